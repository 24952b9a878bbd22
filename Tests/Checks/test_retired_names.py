"""Types, members, options and modules that were renamed do not come back under their old name."""

import re
import subprocess

import pytest
from swift_source import CHECKOUT

# In whatever case, with or without underscores.
NAMES = {
    "FrameTurner", "TurnedVideo", "SteadyCamera", "HardwareEncoder", "StreamVideoEncoder", "SoftwareFallback",
    "EncoderLadder", "EncoderThread", "DriverStay", "MediaQueue", "EncoderControl", "GroupCrossing", "groupTime",
    "shakeHands", "waitForLeave", "fallSilent", "fellSilent", "Occurrence", "notACamera", "audioUnits",
    "audioFramesPerSecond", "connectLimit", "handshakeLimit", "MediaOptions", "PublishOptions", "EncoderReport",
    "TrackReport", "ConnectionReport", "CardReport", "turnedFrames", "turner", "audioFrames", "Occurrences",
}  # fmt: skip
OPTIONS = {"--connect-limit": "--connect-timeout", "--handshake-limit": "--handshake-timeout", "--group-crossing": "--tier-switch"}
MODULES_AND_MEMBERS = re.compile(r"\bsettings\.turn\b|\bimport (?:StreamFile|CameraCapture)\b|[\"`/](?:StreamFile|CameraCapture)(?:Tests)?[\"`/]")
# Members of other things that are called so, and what the field calls so.
OTHERS = re.compile(r"\bhardwareEncoder\b|\bhardware_encoder\b|\bPublishOptions\.swift\b")
CODE = (".swift", ".c", ".cpp", ".h", ".py", ".sh", ".md", ".json", ".txt")
NORMALIZED = {name.lower() for name in NAMES}


def retired_in(line: str) -> list[str]:
    line = OTHERS.sub("", line)
    words = re.findall(r"[A-Za-z_][A-Za-z0-9_]*", line)
    # A word of prose has only small letters.
    found = [word for word in words if word in NAMES or re.search(r"[A-Z_]", word) and word.replace("_", "").lower() in NORMALIZED]
    found += [f"{old} ({new})" for old, new in OPTIONS.items() if old in line]
    return found + MODULES_AND_MEMBERS.findall(line)


def test_no_retired_name_is_used():
    names = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout.split("\0")
    files = [CHECKOUT / name for name in names if name.endswith(CODE) and name != "Tests/Checks/test_retired_names.py"]
    faults = [
        f"{path.relative_to(CHECKOUT)}:{number}: {', '.join(found)}"
        for path in files
        if path.is_file() and not path.is_symlink()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1)
        if (found := retired_in(line))
    ]
    assert len(files) > 500 and not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "line",
    ["let GROUP_CROSSING = 1", "let groupCrossing = 1", "var group_time", "settings.connectLimit", "audio_frames += 1",
     "final class DriverStay {", "[Occurrences]", "let turner = 1", "settings.turn.isIdentity", "publish --connect-limit 5", "import StreamFile", "| `CameraCapture` |",
     "Sources/StreamFile/JSON.swift", "case hardwareEncoderLadder, EncoderLadder"],
)  # fmt: skip
def test_a_retired_name_is_seen(line):
    assert retired_in(line)


@pytest.mark.parametrize(
    "line",
    ["case hardwareEncoder", "let streamFile = read()", "settings.reconnectLimit", "the picture is lost", "an occurrence",
     "a hardware encoder", "--connect-timeout 5"],
)  # fmt: skip
def test_other_names_are_left_alone(line):
    assert not retired_in(line)
