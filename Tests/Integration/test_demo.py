"""`make demo` as a person sees it, without the build."""

import json
import re
import subprocess

import media
import pytest
from processes import HUNG
from recording import frames_due
from tallycam import CHECKOUT

pytestmark = pytest.mark.takes(minutes=0.3, processors=0.2)


def test_the_demo_shows_that_everything_arrived():
    demo = subprocess.run(
        ["scripts/demo"], cwd=CHECKOUT, capture_output=True, text=True, timeout=HUNG, stdin=subprocess.DEVNULL
    )
    assert demo.returncode == 0, demo.stdout + demo.stderr
    for words in (r"video frames +\d+ sent, \d+ received", r"audio +\d", r"mean bitrate", r"largest gap"):
        assert re.search(words, demo.stdout), demo.stdout
    assert "\x1b" not in demo.stdout + demo.stderr, "this output is no terminal"
    assert "fps" in demo.stderr, "a status line now and then"

    decoded = media.decode(CHECKOUT / "out/demo.flv")
    assert decoded.complaints == ""
    events = [json.loads(line) for line in (CHECKOUT / "out/demo-publish.jsonl").read_text().splitlines()]
    assert decoded.frames == events[-1]["videoFrames"]
    assert frames_due(events[-1]) >= 14.5 * 30
    still = (CHECKOUT / "out/demo.png").read_bytes()
    assert still.startswith(b"\x89PNG") and len(still) > 5000
    assert any(event["name"] == "publishing" for event in events)
