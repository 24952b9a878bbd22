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
    "lease, release": {"lend", "lends", "lending", "lent", "loan", "loans"},
    "apply, follow": {"obey", "obeys", "obeyed"},
    "report": {"told"},
    "start": {"begin", "begins", "began", "begun", "beginning"},
    "keyframe": {"key frame", "key frames"},
    "GOP": {"groups of frames", "group of frames"},
    "event; detect, see": {"notice", "notices"},
    "escalate": {"climb", "climbs", "climbed", "climbing"},
    "tier switch": {"crossing", "crossings"},
}
# What is no single word: said in prose, and as the parts of an identifier.
RETIRED_PHRASES = {
    "release, return": re.compile(r"\bg(?:ive|ives|iven|iving|ave)(?: [a-z]+){0,3} back\b"),
}
# What is retired only where it stands so.
RETIRED_PLACES = {
    "rotation": re.compile(r"\bsettings\.turn\b"),
    "occupancy": re.compile(r"\b(?:let|var) stay\b|\bstay[.?]\w|\.stay\b|\b(?:a|an|the|abandoned|earlier|later) stay\b"),
    "Settings, LibcameraCapture": re.compile(
        r"\bimport (?:StreamFile|CameraCapture)\b|[\"`/](?:StreamFile|CameraCapture)(?:Tests)?[\"`/]"),
}  # fmt: skip
# Retired in files of these names: other things have a ladder that is called so.
RETIRED_IN_FILES = {"recovery": (re.compile(r"(?i)encoder|recovery|fault"), {"ladder", "ladders"})}
# Types, members, options and fields that have another name now, in whatever case and with or without underscores.
RETIRED_NAMES = {
    "FrameTurner", "TurnedVideo", "SteadyCamera", "HardwareEncoder", "StreamVideoEncoder", "SoftwareFallback",
    "EncoderLadder", "EncoderThread", "DriverStay", "MediaQueue", "EncoderControl", "GroupCrossing", "groupTime",
    "shakeHands", "waitForLeave", "fallSilent", "fellSilent", "Occurrence", "notACamera", "audioUnits",
    "audioFramesPerSecond", "connectLimit", "handshakeLimit", "MediaOptions", "PublishOptions", "EncoderReport",
    "TrackReport", "ConnectionReport", "CardReport", "turnedFrames", "turner", "audioFrames", "Occurrences",
}  # fmt: skip
RETIRED_OPTIONS = {"--connect-limit", "--handshake-limit", "--group-crossing"}
# Names that others gave: standards, libraries, the kernel, a database's word for a transaction's start.
GIVEN = re.compile(
    r"[Ss]ound[ -]?[Cc]ards?|SoundCard|\w*asound\w*|alsa/sound|/sound/|SND_\w+|sound/\w+|picture parameter sets?|[pP]ictureParameterSets?"
    r"|SSourcePicture|pictureSets|streamBegin|Stream Begin|\bV4L2_\w+|\"begin\"|\"begin  |`begin`|\bbegin(?=\(\)|  )"
    r"|\"begin now\"|\bbegin opens|\.begin\(\)|std::begin|\w+UpdateConfiguration|\bBEGIN\b|begin/commit|png_image_begin_\w+"
)
# The field's words that something retired is called by, too: what is no type of that name, and no tier's crossing.
FIELDS = re.compile(r"hardwareEncoder|hardware_encoder|(?:[Zz]ero|[Tt]hreshold)[ _]?[Cc]rossings?|\w*(?:FrameSize|Quality)Ladder\w*")
NORMALIZED_NAMES = {name.lower() for name in RETIRED_NAMES}
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


def retired_in(line: str, file: str = "") -> list[str]:
    """What the line of that file says that has another name now, with that name."""
    line = FIELDS.sub("", GIVEN.sub("", line))
    found = [f"{option} (…-timeout, --tier-switch)" for option in RETIRED_OPTIONS if option in line]
    found += [f"{match[0]} ({better})" for better, place in RETIRED_PLACES.items() if (match := place.search(line))]
    for word in WORD.findall(line):
        if word.replace("_", "").lower() in NORMALIZED_NAMES:
            found.append(word)
        parts = [part.lower() for part in PARTS.findall(word)]
        pairs = {f"{one} {other}" for one, other in zip(parts, parts[1:])}
        found += [f"{word} ({better})" for better, old in RETIRED.items() if old & ({*parts} | pairs)]
        found += [
            f"{word} ({better})" for better, (files, old) in RETIRED_IN_FILES.items() if files.search(file) and old & {*parts}
        ]  # fmt: skip
    spoken = " {} ".format(re.sub(r"[^a-z ]+", " , ", line.lower().replace("-", " ")))
    for better, old in RETIRED.items():
        phrases = [phrase for phrase in old if " " in phrase]
        found += [f"{phrase} ({better})" for phrase in phrases if f" {phrase} " in spoken]
    readings = [spoken, *(" ".join(part.lower() for part in PARTS.findall(word)) for word in WORD.findall(line))]
    for better, phrase in RETIRED_PHRASES.items():
        found += [f"{match[0]} ({better})" for text in readings if (match := phrase.search(text))]
    return found


def test_no_retired_word_is_used():
    faults = [
        f"{name}:{number}: {', '.join(words)}"
        for name, text in texts().items()
        for number, line in enumerate(text.splitlines(), start=1)
        if (words := retired_in(line, name))
    ]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "line",
    ["let lastPicture = 1", "is_lent = True", "the sound is lost", "isKeyFrame", "a key frame comes", "it is told once",
     "gave it back", "gives the buffer back", "func giveThemBack()", "gives_them_back", "it lends a frame", "lending",
     "GROUP_CROSSING", "let groupCrossing = 1", "var group_time", "settings.connectLimit", "audioFrames", "audio_frames",
     "let turner = 1", "turned_frames += 1", "settings.turn.isIdentity", "let stay = 1", "stay.abandon()", "an earlier stay",
     "return climb(now)", "it climbs", "a crossing takes a restart", "crossingProvingTime", "{ notice in", "[Occurrences]",
     "import StreamFile", "| `CameraCapture` |", "Sources/StreamFile/JSON.swift", "shake_hands()",
     "final class DriverStay {", "publish --connect-limit 5", "case began", "func giveBack()"],
)  # fmt: skip
def test_a_retired_word_is_seen(line):
    assert retired_in(line)


def test_recovery_has_no_ladder_but_sizes_have():
    assert retired_in("the first step of the ladder", "Sources/StreamLogic/Encoder/EncoderRecovery.swift")
    assert retired_in("on its ladder", "Tests/VirtualBoard/test_mixed_faults.py")
    assert not retired_in("in ladder: FrameSizeLadder", "Sources/StreamQuality/FrameSizing.swift")
    assert not retired_in("QualityLadder.fitted(point)", "Sources/StreamQuality/EncoderRateMonitor.swift")


@pytest.mark.parametrize(
    "line",
    ["a sound card's clock", "var pictureParameterSets: [[UInt8]]", "several between `begin` and `commit`",
     "V4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME", "the monkey frames nothing", "lentils", "blending",
     "how its zero crossings lie", "each threshold crossing", "case hardwareEncoder", "the headers stay.", "let streamFile = read()",
     "settings.reconnectLimit"],
)  # fmt: skip
def test_what_others_named_stays(line):
    assert not retired_in(line)
