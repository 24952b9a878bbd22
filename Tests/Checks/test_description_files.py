"""The keys of the JSON files are the same in the code and in the documents, and the samples on the card are right."""

import json
import re
import shutil
import subprocess

import pytest
from swift_source import CHECKOUT

REFERENCE = CHECKOUT / "docs/reference"
LIGHTS = [REFERENCE / "hardware.md", CHECKOUT / "docs/trouble/light.md"]
WIRINGS = [REFERENCE / "hardware.md", CHECKOUT / "docs/start/wiring.md"]
SOURCES = {
    "stream.json": ["StreamDescription", "TargetDescription", "PlainStreamDescription", "PiliStreamDescription"],
    "device.json": ["DeviceDescription", "DeviceAudio", "DeviceBehavior", "DeviceCameras", "DeviceControls", "DeviceFilters",
                    "DevicePreview", "DeviceQuality", "DeviceRecord", "DeviceSnapshots", "DeviceWebcam"],
    "network.json": ["NetworkDescription"],
    "board.json": ["BoardDescription"],
}
# Former names of keys: they are read only to report the present name.
FORMER = {"device.json": {"flashLED"}}
READ = re.compile(r"\.(?:name|text|flag|flagOrChoice|integer|integerOrChoice|number|choice|texts|object|objects|elements|objectOfTexts|moment|quality|folder)\(\s*\"(\w+)\"")
ACCEPTED = re.compile(r"\.accept\(((?:\"\w+\"(?:, )?)+)\)")


def settings_source(name: str) -> str:
    """The text of a file of the module Settings, in any folder."""
    (path,) = (CHECKOUT / "Sources/Settings").rglob(f"{name}.swift")
    return path.read_text()


def keys_in_code(file: str) -> set[str]:
    keys = set()
    for name in SOURCES[file]:
        text = settings_source(name)
        keys |= set(READ.findall(text))
        keys |= set(re.findall(r"read(?:Line|Light|Device)\(\s*\"(\w+)\"", text))
        for names in ACCEPTED.findall(text):
            keys |= set(re.findall(r"\w+", names))
    return keys - FORMER.get(file, set())


def document(file: str) -> str:
    """The page about one of the JSON files."""
    return (REFERENCE / f"{file.replace('.', '-')}.md").read_text()


def section_of_keys(text: str) -> str:
    return text.split("\n## Keys\n", 1)[1].split("\n## ", 1)[0]


def rows(text: str) -> list[str]:
    """The lines of the page's tables of keys."""
    return re.findall(r"^\| `.+ \|\n", section_of_keys(text), re.MULTILINE)


def keys_in_document(file: str, text: str) -> set[str]:
    """The names that the first columns of the page's tables set as code."""
    keys = set()
    for row in rows(text):
        keys |= set(re.findall(r"`(\w+)`", row.split(" | ")[0]))
    if file == "stream.json":
        # Named where the table explains their object.
        keys |= set(re.findall(r"`(publish|rtmp|play|live|playback)`", section_of_keys(text)))
    return keys


@pytest.mark.parametrize("file", SOURCES)
def test_every_key_is_in_code_and_document(file):
    assert keys_in_code(file) == keys_in_document(file, document(file))


# Two keys of each file, one at the top level and one inside an object.
SOME_KEYS = {
    "stream.json": ["caFile", "publishLifetime"], "device.json": ["mirrored", "highThreshold"],
    "network.json": ["timeServers", "hidden"], "board.json": ["lens", "activeLow"],
}  # fmt: skip


@pytest.mark.parametrize("file", SOURCES)
def test_a_key_that_only_the_document_has_is_seen(file):
    text = document(file)
    for key in SOME_KEYS[file]:
        row = next(row for row in rows(text) if f"`{key}`" in row)
        more = text.replace(row, row.replace(f"`{key}`", f"`{key}`, `lense`", 1))
        assert keys_in_document(file, more) - keys_in_code(file) == {"lense"}


@pytest.mark.parametrize("file", SOURCES)
def test_a_key_that_only_the_code_has_is_seen(file):
    text = document(file)
    for key in SOME_KEYS[file]:
        fewer = text
        for row in rows(text):
            if f"`{key}`" in row.split(" | ")[0]:
                fewer = fewer.replace(row, "", 1)
        assert keys_in_code(file) - keys_in_document(file, fewer) == {key}


@pytest.mark.parametrize("file", SOURCES)
def test_every_key_has_a_default_and_a_meaning_in_the_document(file):
    for row in rows(document(file)):
        cells = [cell.strip() for cell in row.strip().strip("|").split(" | ")]
        assert len(cells) == 3 and all(cells), row


@pytest.mark.parametrize("file", SOURCES)
def test_these_tests_know_every_way_to_read_a_key(file):
    """Every function that reads a key is known to `keys_in_code`."""
    for name in SOURCES[file]:
        text = settings_source(name)
        read = set(re.findall(r"\b\w+\.(\w+)\(\s*\"\w+\"", text))
        assert read <= {"name", "text", "flag", "flagOrChoice", "integer", "integerOrChoice", "number",
                        "choice", "texts", "object", "objects", "elements", "accept",
                        "has", "mention", "redirect", "report", "objectOfTexts", "moment", "word", "quality", "folder", "shortForm"}, read  # fmt: skip


LIMITED = re.compile(r"\.(?:integer|integerOrChoice|number)\(\s*\"(\w+)\", in: ([\w.-]+?)(?:\.\.\.([\d_]+))?[,)]")
CHOSEN = re.compile(r"\.choice\(\s*\"(\w+)\", of: (\w+)\.allCases|\.integer\(\s*\"(\w+)\", of: (\w+)\.allCases")
RANGES = {
    "MicrophoneLevel.gainRange": ("-60", "40"), "words.kilobits": ("150", "20000"), "words.frameRates": ("24", "60"),
}  # fmt: skip


def words_of(enumeration: str) -> list[str]:
    """The raw values of an enumeration of the module Settings."""
    texts = "".join(path.read_text() for path in sorted((CHECKOUT / "Sources/Settings").rglob("*.swift")))
    body = re.search(rf"enum {enumeration}: (?:String|Int), .*?\n    \}}", texts, re.DOTALL)[0]
    return [value or name for name, value in re.findall(r"\bcase (\w+)(?: = \"?(\w+)\"?)?", body)]


def rules_in_code(file: str) -> set[tuple[str, str]]:
    """Keys with the range that their number has, as in "1 to 5", or with one of the words that they take."""
    found = set()
    for name in SOURCES[file]:
        text = settings_source(name)
        for key, low, high in LIMITED.findall(text):
            low, high = (low.replace("_", ""), high.replace("_", "")) if high else RANGES[low]
            found.add((key, f"{low} to {high}"))
        for key, enumeration, number, numbers in CHOSEN.findall(text):
            found |= {(key or number, word) for word in words_of(enumeration or numbers)}
    return found


def undocumented_rules(file: str, text: str) -> set[tuple[str, str]]:
    def is_documented(key: str, rule: str) -> bool:
        return any(
            re.search(rf"(?<![\w-]){re.escape(rule)}(?![\w])", row)
            for row in rows(text)
            if re.findall(r"`(\w+)`", row.split(" | ")[0])[-1:] == [key]
        )

    # The service's own number, which people do not set.
    return {rule for rule in rules_in_code(file) if rule[0] != "disabledTill" and not is_documented(*rule)}


@pytest.mark.parametrize("file", SOURCES)
def test_limits_and_words_of_the_code_are_in_the_document(file):
    assert undocumented_rules(file, document(file)) == set()


@pytest.mark.parametrize(
    "file, old, new, rule",
    [
        ("device.json", "1 to 5 seconds", "1 to 6 seconds", ("seconds", "1 to 5")),
        ("device.json", "-60 to 40 dB", "-50 to 40 dB", ("gain", "-60 to 40")),
        ("device.json", "`slow`: exposure", "`slower`: exposure", ("lowLight", "slow")),
        ("stream.json", "10 to 604800", "1 to 604800", ("publishLifetime", "10 to 604800")),
        ("board.json", "1 to 3072", "1 to 1024", ("packetBytes", "1 to 3072")),
    ],
)
def test_a_limit_or_word_that_the_document_lacks_is_seen(file, old, new, rule):
    text = document(file)
    assert text.count(old) == 1
    assert undocumented_rules(file, text.replace(old, new)) == {rule}


def unused(description: str, users: str) -> set[str]:
    """The description's properties that no line of the program uses."""
    text = settings_source(description)
    own = text[text.index(f"public struct {description}:") :].split("\n}\n", 1)[0]
    properties = re.findall(r"^    public var (\w+)", own, re.MULTILINE)
    assert len(properties) > 3
    return {name for name in properties if not re.search(rf"\.{name}\b", users)}


# The targets that use the settings.
DESCRIBED = (
    "CardStorage", "BoardRuntime", "DeviceStreams", "WebcamService", "CommandChannels", "ApplianceRuntime",
    "MachineDevices", "tallycam",
)  # fmt: skip


@pytest.mark.parametrize("description", ["DeviceDescription", "BoardDescription"])
def test_every_setting_of_a_file_is_used(description):
    users = "".join(
        path.read_text()
        for target in DESCRIBED
        for path in sorted((CHECKOUT / "Sources" / target).rglob("*.swift"))
    )
    assert not unused(description, users)
    assert unused("DeviceDescription", users.replace(".mirrored", ".")) == {"mirrored"}


def run(*words) -> subprocess.CompletedProcess:
    return subprocess.run([CHECKOUT / "out/x86_64/tallycam", *words], capture_output=True, text=True, timeout=120)


def test_the_network_sample_is_correct(tmp_path):
    result = run("network", "--file", CHECKOUT / "board/common/network.json", "--output", tmp_path)
    assert result.returncode == 0 and result.stderr == ""
    assert (tmp_path / "hostname").read_text() == "tallycam\n"


def test_the_stream_sample_only_lacks_the_url():
    result = run("check", CHECKOUT / "board/common/stream.json")
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1 and "url: not an RTMP URL: it is empty" in result.stderr


def examples(name: str) -> list[str]:
    return re.findall(r"^ +(\{.*\})$", (CHECKOUT / "board/common" / name).read_text(), re.MULTILINE)


def test_the_examples_on_the_card_are_correct(tmp_path):
    stream, network = examples("README.txt")
    (tmp_path / "stream.json").write_text(stream)
    assert run("check", tmp_path / "stream.json").returncode == 0
    (tmp_path / "network.json").write_text(network)
    assert run("network", "--file", tmp_path / "network.json", "--output", tmp_path).stderr == ""


def defaults_in_document(text: str) -> dict[str, str]:
    found = re.findall(r"^\| (`[^|]+) \| ([^|]+) \|", section_of_keys(text), re.MULTILINE)
    return {re.sub("`", "", key): re.sub("`", "", value) for key, value in found}


def test_the_sample_of_the_device_holds_the_documented_defaults():
    sample = json.loads((CHECKOUT / "board/common/device.json").read_text())
    flat = {}
    for key, value in sample.items():
        flat |= {f"{key}.{name}": part for name, part in value.items()} if isinstance(value, dict) and value else {key: value}
    written = {key: json.dumps(value) if not isinstance(value, str) else value for key, value in flat.items()}
    # The objects of an empty list have no keys in the sample.
    lists = tuple(f"{key}." for key, value in flat.items() if isinstance(value, list))
    defaults = defaults_in_document(document("device.json"))
    # Nor have those of an object that may stand in place of a word.
    named = {
        key: value for key, value in defaults.items()
        if not key.startswith(lists) and key.rpartition(".")[0] not in defaults
    }  # fmt: skip
    assert lists == ("filters.", "audio.sources.") and written == named


@pytest.mark.parametrize("page", LIGHTS, ids=lambda page: page.name)
def test_the_documented_light_is_the_code_s(page):
    text, code = page.read_text(), (CHECKOUT / "Sources/ApplianceLogic/ButtonAndLights/LEDPattern.swift").read_text()
    rhythms = re.findall(r"^\| [^|]+ \| [^|]+ \| ([\d ]+) \|$", text, re.MULTILINE)
    for rhythm in re.findall(r"= LEDPattern\(\[([\d, ]+)\]\)", code):
        assert rhythm.replace(",", "") in rhythms
    faults = (CHECKOUT / "Sources/ApplianceLogic/Faults/ApplianceFault.swift").read_text()
    blinks = set(re.findall(r"^    case \w+ = (\d+)$", faults, re.MULTILINE))
    assert blinks == set(re.findall(r"^\| (\d+) \|", text, re.MULTILINE))


# The 40-pin header's lines, as on every Raspberry Pi since 2014.
PINS = {"GPIO17": 11, "GPIO27": 13, "GPIO22": 15}


@pytest.mark.parametrize("board", [path.name for path in sorted((CHECKOUT / "board").glob("rpi*"))])
@pytest.mark.parametrize("page", WIRINGS, ids=lambda page: page.name)
def test_a_board_is_wired_as_documented(page, board):
    wiring = page.read_text().split("\n## Wiring\n", 1)[1].split("\n## ", 1)[0]
    description = json.loads((CHECKOUT / "board" / board / "board.json").read_text())
    for key, name in (("button", "Button"), ("statusLED", "Status LED"), ("flashLED", "Flash LED")):
        line = description[key]["line"]
        assert f"- **{name}:** pin {PINS[line]} (`{line}`)" in wiring
    assert description["button"]["activeLow"] and not description["statusLED"].get("activeLow", False)


BOARDS = sorted(path.name for path in (CHECKOUT / "board").iterdir() if (path / "board.json").exists())


@pytest.mark.parametrize("board", BOARDS)
def test_a_boards_description_has_known_keys_only(board):
    description = json.loads((CHECKOUT / "board" / board / "board.json").read_text())
    names = set(description) | {name for value in description.values() if isinstance(value, dict) for name in value}
    assert names <= keys_in_code("board.json")


# MARK: Defaults of the files that have no complete sample

PLAIN = {"url": "rtmps://live.example.com/app/a", "key": "a", "caFile": "ca.pem", "pauseImage": "pause.png", "disabled": False}
PILI = {
    "id": "z1.my-hub.front-door", "hub": "my-hub", "title": "front-door", "publishKey": "a", "publishSecurity": "expiring",
    "publishLifetime": 3600, "hosts": {"publish": {"rtmp": "publish.example.com"}}, "pauseImage": "pause.png", "disabled": False,
    "profiles": [], "createdAt": 0, "updatedAt": 0, "disabledTill": 0,
}  # fmt: skip
TARGETS = {
    "targets": [{"name": "own", "leading": True, "maxKbit": 2500, **{key: PLAIN[key] for key in ("url", "key", "disabled")}}],
    "pauseImage": "pause.png", "disabled": False,
}  # fmt: skip
NETWORK = {
    "hostName": "tallycam", "country": "DE", "timeZone": "UTC", "timeServers": ["pool.ntp.org"],
    "wifi": [{"ssid": "Studio", "password": "the password", "hidden": False}],
}  # fmt: skip
BOARD = {
    "name": "Desk", "button": {"line": "A", "chip": "B", "activeLow": False}, "statusLED": {"line": "C"}, "flashLED": {"led": "D"},
    "encoder": "auto", "restartForEncoder": False, "lens": "E", "microphone": "hw:0", "watchdog": "/dev/watchdog",
    "console": "/dev/ttyAMA0", "devicePort": {"packetBytes": 2048, "interval": 1},
}  # fmt: skip
SUBDEVICE = {**BOARD, "flashLED": {"subdevice": "D"}}
COMPLETE = {"stream.json": [PLAIN, PILI, TARGETS], "network.json": [NETWORK], "board.json": [BOARD, SUBDEVICE]}
# Not needed for themselves, but by an object that has them.
NEEDED_IN_OBJECT = {"devicePort.packetBytes"}
NEEDED_ALONE = {"flashLED.led", "flashLED.subdevice", "targets"}


def documented_defaults(file: str, text: str) -> dict[str, str]:
    """By key; keys that share a row have each their own."""
    found = defaults_in_document(text)
    return {name: value.strip() for key, value in found.items() for name in key.replace(" and so on", "").split(", ")}


def without(file: dict, key: str) -> dict | None:
    """The file without that key. `None` if it is not in it."""
    parts = key.split(".")
    copy = json.loads(json.dumps(file))
    place = copy
    for part in parts[:-1]:
        place = place.get(part, {})
        place = place[0] if isinstance(place, list) and place else place
    return copy if place.pop(parts[-1], None) is not None else None


def accepts(name: str, content: dict, folder) -> bool:
    (folder / name).write_text(json.dumps(content))
    shutil.copy(CHECKOUT / "docs/demo.png", folder / "pause.png")
    shutil.copy("/etc/ssl/certs/ca-certificates.crt", folder / "ca.pem")
    result = run("check", folder / name)
    assert result.returncode in (0, 2)
    return result.returncode == 0


def wrongly_required(name: str, text: str, folder) -> set[str]:
    """Keys that the document calls required, or not, other than the program."""
    found = set()
    for key, default in documented_defaults(name, text).items():
        is_required = default.startswith("required") or key in NEEDED_IN_OBJECT | NEEDED_ALONE
        parts = [part for file in COMPLETE[name] if (part := without(file, key)) is not None]
        assert parts, f"no complete file has {key}"
        found |= {key for part in parts if accepts(name, part, folder) == is_required}
    return found


@pytest.mark.parametrize("name", COMPLETE)
def test_a_complete_file_is_accepted(name, tmp_path):
    assert all(accepts(name, file, tmp_path) for file in COMPLETE[name])


@pytest.mark.parametrize("file", COMPLETE["stream.json"])
def test_a_stream_is_not_disabled_unless_the_file_says_so(file, tmp_path):
    assert accepts("stream.json", without(file, "disabled"), tmp_path)
    assert not accepts("stream.json", {**file, "disabled": True}, tmp_path)


@pytest.mark.parametrize("name", COMPLETE)
def test_required_keys_are_documented_as_such(name, tmp_path):
    assert wrongly_required(name, document(name), tmp_path) == set()


@pytest.mark.parametrize(
    "name, key, old, new",
    [
        ("stream.json", "key", "| `key` | none |", "| `key` | required |"),
        ("stream.json", "hosts", "| `hosts` | required |", "| `hosts` | none |"),
        ("network.json", "wifi.ssid", "| `wifi`.`ssid` | required |", "| `wifi`.`ssid` | none |"),
        ("board.json", "lens", "| `lens` | none |", "| `lens` | required |"),
    ],
)
def test_a_key_that_is_wrongly_called_required_is_seen(name, key, old, new, tmp_path):
    assert wrongly_required(name, document(name).replace(old, new), tmp_path) == {key}


# Defaults with a value: the place that has it, with the value as a group. No output of the program shows these.
DEFAULTS = {
    "stream.json": {
        "publishSecurity": ("Sources/Settings/Stream/PiliStreamDescription.swift", r"isGiven \? nil : \.(\w+)\("),
        "publishLifetime": ("Sources/Settings/Stream/PiliStreamDescription.swift", r"lifetime\?\.value \?\? (\d+)"),
        "targets.leading": ("Sources/Settings/Stream/TargetDescription.swift", r'"leading": true"#\)\?\.value \?\? (\w+)'),
        "targets.disabled": ("Sources/Settings/Stream/TargetDescription.swift", r'"disabled": false"#\)\?\.value \?\? (\w+)'),
    },
    "network.json": {
        "hostName": ("Sources/Settings/Network/NetworkDescription.swift", r'var hostName = "(\w+)"'),
        "timeServers": ("rootfs-overlay/etc/init.d/S40time", r"set -- -p (pool\.ntp\.org)"),
        "timeZone": ("Sources/Settings/Network/NetworkDescription.swift", r"var timeZone = TimeZone\.(\w+)"),
        "wifi.hidden": ("Sources/Settings/Network/NetworkDescription.swift", r'"hidden": true"#\)\?\.value \?\? (\w+)'),
    },
    "board.json": {
        "encoder": ("Sources/Settings/Device/BoardDescription.swift", r"flatMap\(Encoder\.init\) \?\? \.(\w+)"),
        "restartForEncoder": ("Sources/Settings/Device/BoardDescription.swift", r'"restartForEncoder": true"#\)\?\.value \?\? (\w+)'),
        "button.activeLow": ("Sources/Settings/Device/BoardDescription.swift", r'"activeLow": true"#\)\?\.value \?\? (\w+)'),
        "devicePort.packetBytes": ("Sources/USBVideo/IsochronousBudget.swift", r"packetBytes: Int = (\d+)"),
        "devicePort.interval": ("Sources/USBVideo/IsochronousBudget.swift", r"interval: Int = (\d+)"),
    },
}  # fmt: skip
# A file with `true` is refused, one without the key is not.
SHOWN_BY_CHECK = {("stream.json", "disabled"): "false"}
# Words for a key that is left out, instead of a value.
ABSENT = re.compile(r"required\b|none\b|all$|–$|from id$|the system's$")


def wrong_defaults(name: str, text: str) -> dict[str, tuple[str, str | None]]:
    """Documented defaults that are not the code's, and what the code has."""
    found = {}
    for key, documented in documented_defaults(name, text).items():
        if key not in DEFAULTS[name]:
            if not ABSENT.match(documented) and documented != SHOWN_BY_CHECK.get((name, key)):
                found[key] = (documented, None)
            continue
        path, pattern = DEFAULTS[name][key]
        (match,) = re.finditer(pattern, (CHECKOUT / path).read_text())
        value = {"pool.ntp.org": "the NTP pool's", "utc": "UTC"}.get(match[1], match[1])
        if documented != value:
            found[key] = (documented, value)
    return found


@pytest.mark.parametrize("name", DEFAULTS)
def test_documented_defaults_are_the_code_s(name):
    assert DEFAULTS[name].keys() <= documented_defaults(name, document(name)).keys()
    assert wrong_defaults(name, document(name)) == {}


@pytest.mark.parametrize(
    "name, key, old, new",
    [
        ("stream.json", "publishLifetime", "| 3600 |", "| 600 |"), ("stream.json", "key", "| `key` | none |", "| `key` | live |"),
        ("network.json", "timeZone", "| `UTC` |", "| `CET` |"), ("network.json", "hostName", "| `tallycam` |", "| `camera` |"),
        ("board.json", "encoder", "| `encoder` | `auto` |", "| `encoder` | `v4l2` |"),
        ("board.json", "devicePort.packetBytes", "| 2048 |", "| 1024 |"),
    ],
)  # fmt: skip
def test_a_wrong_default_is_seen(name, key, old, new):
    text = document(name)
    assert text.count(old) == 1
    assert wrong_defaults(name, text.replace(old, new)).keys() == {key}


def test_the_network_s_defaults_are_written_when_they_are_left_out(tmp_path):
    """What the system gets is the same with the documented defaults as without them."""
    wifi = {"ssid": "Studio", "password": "the password"}
    written = []
    for number, content in enumerate([{"wifi": [wifi]}, {"wifi": [{**wifi, "hidden": False}], "hostName": "tallycam", "timeZone": "UTC"}]):
        (tmp_path / "network.json").write_text(json.dumps({"country": "DE", **content}))
        folder = tmp_path / f"{number}"
        folder.mkdir()
        assert run("network", "--file", tmp_path / "network.json", "--output", folder).returncode == 0
        written.append({path.name: path.read_text() for path in folder.iterdir()})
    assert written[0] == written[1] and written[0]["hostname"] == "tallycam\n"
