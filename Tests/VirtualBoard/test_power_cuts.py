"""Power cuts at random moments, a few of those of `make power-cuts`: the board recovers from each."""

import pytest
from power_cuts import cut_often
from seeds import seed_of_this_run

pytestmark = [pytest.mark.slow, pytest.mark.takes(minutes=8, processors=0.6)]


def test_the_board_recovers_from_every_power_cut(image, tmp_path):
    cut_often(tmp_path, 12, seed_of_this_run())
