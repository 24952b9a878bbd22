print("tallycam")
