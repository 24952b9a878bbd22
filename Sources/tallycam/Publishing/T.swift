func runPublish(_ arguments: [String]) throws -> ExitStatus { .success }
