"""Seeds of the random tests: a new one each time, or that of a failed run to repeat it."""

import os
import random

VARIABLE = "TALLYCAM_SEED"


def seed_of_this_run() -> int:
    """The seed from TALLYCAM_SEED, or any. It is printed, so that a failure can be repeated."""
    seed = int(os.environ.get(VARIABLE) or random.randrange(1 << 30))
    print(f"seed {seed}: {VARIABLE}={seed} repeats it")
    return seed
