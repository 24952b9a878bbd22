"""Seeds of the tests at random: another one each time, and that of a run that failed again."""

import os
import random

VARIABLE = "TALLYCAM_SEED"


def seed_of_this_run() -> int:
    """The value of TALLYCAM_SEED, or any number. It is printed, so that a failure can be repeated."""
    seed = int(os.environ.get(VARIABLE) or random.randrange(1 << 30))
    print(f"seed {seed}: {VARIABLE}={seed} repeats it")
    return seed
