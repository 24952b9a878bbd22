"""Seeds of the tests at random: another one each time, and that of a run that failed again."""

import os
import random

VARIABLE = "TALLYCAM_SEED"


def seed_of_this_run() -> int:
    """What TALLYCAM_SEED says, or any. It is printed, for the account of a failure."""
    seed = int(os.environ.get(VARIABLE) or random.randrange(1 << 30))
    print(f"seed {seed}: {VARIABLE}={seed} repeats it")
    return seed
