"""Hours of media as fast as possible, across both wraps of RTMP's clock: part of `make soak`."""

import subprocess
import sys

import pytest
from tallycam import CHECKOUT

pytestmark = [pytest.mark.slow, pytest.mark.takes(minutes=1, processors=1)]


def test_every_timestamp_is_right_across_both_wraps():
    words = [sys.executable, CHECKOUT / "Benchmarks/soak/run.py", "--hours", "4"]
    soak = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1200)
    print(soak.stdout)
    assert soak.returncode == 0
    assert soak.stdout.count("every timestamp is right") == 2
