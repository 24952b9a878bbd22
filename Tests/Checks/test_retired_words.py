"""Each thing has one name, the field's own: words that were given up for it come back nowhere."""

import re
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
# By what to say instead. Parts of identifiers count like words of their own: `lastPicture`, `is_lent`.
RETIRED = {
    "frame": {"picture", "pictures"},
    "audio, audio packet": {"sound", "sounds"},
    "lease, release": {"lent", "loan", "loans", "give back", "gives back", "given back", "gave back"},
    "apply, follow": {"obey", "obeys", "obeyed"},
    "report": {"told"},
    "start": {"begin", "begins", "began", "begun", "beginning"},
    "keyframe": {"key frame", "key frames"},
    "GOP": {"groups of frames", "group of frames"},
}
# Types, members, options and fields that have another name now.
RETIRED_NAMES = {
    "FrameTurner", "TurnedVideo", "SteadyCamera", "HardwareEncoder", "StreamVideoEncoder", "SoftwareFallback",
    "EncoderLadder", "EncoderThread", "DriverStay", "MediaQueue", "EncoderControl", "GroupCrossing", "groupTime",
    "shakeHands", "waitForLeave", "fallSilent", "fellSilent", "Occurrence", "Notice", "notACamera", "audioUnits",
    "audioFramesPerSecond", "connectLimit", "handshakeLimit", "MediaOptions", "PublishOptions", "EncoderReport",
    "TrackReport", "ConnectionReport", "CardReport", "turnedFrames",
}  # fmt: skip
RETIRED_OPTIONS = {"--connect-limit", "--handshake-limit", "--group-crossing"}
# Names that others gave: standards, libraries, the kernel, a database's word for a transaction's start.
GIVEN = re.compile(
    r"[Ss]ound[ -]?[Cc]ards?|SoundCard|\w*asound\w*|alsa/sound|/sound/|SND_\w+|sound/\w+|picture parameter sets?|[pP]ictureParameterSets?"
    r"|SSourcePicture|pictureSets|streamBegin|Stream Begin|\bV4L2_\w+|\"begin\"|\"begin  |`begin`|\bbegin(?=\(\)|  )"
    r"|\"begin now\"|\bbegin opens|\.begin\(\)|std::begin|\w+UpdateConfiguration|\bBEGIN\b|begin/commit"
)
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Texts of other people, and data; and this list itself.
OTHERS = re.compile(r"^(LICENSE|docs/licences|Fuzz/Corpus/|scripts/build-root\.d/.*\.patch)")
OWN = {"Tests/Checks/test_retired_words.py"}


def texts() -> dict[str, str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout
    found = {}
    for name in filter(None, listed.split("\0")):
        path = CHECKOUT / name
        if name in OWN or OTHERS.match(name) or path.is_symlink() or not path.is_file():
            continue
        try:
            found[name] = path.read_text()
        except UnicodeDecodeError:
            pass
    return found


def retired_in(line: str) -> list[str]:
    """What the line says that has another name now, with that name."""
    line = GIVEN.sub("", line)
    found = [f"{option} (…-timeout, --tier-switch)" for option in RETIRED_OPTIONS if option in line]
    for word in WORD.findall(line):
        if word in RETIRED_NAMES:
            found.append(word)
        parts = [part.lower() for part in PARTS.findall(word)]
        pairs = {f"{one} {other}" for one, other in zip(parts, parts[1:])}
        found += [f"{word} ({better})" for better, old in RETIRED.items() if old & ({*parts} | pairs)]
    spoken = " {} ".format(re.sub(r"[^a-z ]+", " , ", line.lower().replace("-", " ")))
    for better, old in RETIRED.items():
        phrases = [phrase for phrase in old if " " in phrase]
        found += [f"{phrase} ({better})" for phrase in phrases if f" {phrase} " in spoken]
    return found


def test_no_retired_word_is_used():
    faults = [
        f"{name}:{number}: {', '.join(words)}"
        for name, text in texts().items()
        for number, line in enumerate(text.splitlines(), start=1)
        if (words := retired_in(line))
    ]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "line",
    ["let lastPicture = 1", "is_lent = True", "the sound is lost", "isKeyFrame", "a key frame comes", "it is told once",
     "final class DriverStay {", "publish --connect-limit 5", "case began", "func giveBack()"],
)  # fmt: skip
def test_a_retired_word_is_seen(line):
    assert retired_in(line)


@pytest.mark.parametrize(
    "line",
    ["a sound card's clock", "var pictureParameterSets: [[UInt8]]", "several between `begin` and `commit`",
     "V4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME", "the monkey frames nothing", "lentils"],
)  # fmt: skip
def test_what_others_named_stays(line):
    assert not retired_in(line)
