"""The page's modules without its elements: what they compute, asked for in Chromium, which has no other engine beside it."""

import json

import pytest
from browser import Chromium
from page import PagedAppliance

pytestmark = pytest.mark.takes(minutes=0.5, processors=0.5)

RHYTHMS = {
    "boot": [500, 500], "updating": [100, 100, 100, 100, 500, 300], "ready": [80, 2920], "recording": [80, 920],
    "waiting for a press": [50, 50, 50, 50, 50, 50, 50, 1150], "pairing": [50, 50, 50, 50, 50, 50, 50, 1150],
    "connecting": [125, 125], "live": [], "webcam": [], "degraded": [900, 100], "live in software": [700, 100, 100, 100],
    "paused": [1000, 2000], "reconnecting": [100, 100, 100, 100, 100, 100, 700, 300], "stopping": [1500, 500],
    "shutdown": [1500, 500],
}  # fmt: skip


@pytest.fixture(scope="module")
def browser(module_children):
    browser = Chromium(module_children)
    browser.open(f"{PagedAppliance(module_children).page}/icon.svg")
    return browser


@pytest.fixture
def compute(browser):
    """The value of an expression in which `m` is a module of the page."""

    def value(module: str, expression: str, *arguments):
        found = browser.script_later(
            "const [done, given] = [arguments[arguments.length - 1], [...arguments].slice(0, -1)];"
            f"import('/{module}.js').then((m) => {expression}).then((value) => done([value === undefined ? null : value]),"
            "(error) => done(String(error)));", *arguments,
        )  # fmt: skip
        assert isinstance(found, list), found
        return found[0]

    return value


# The files of the card


TEXT = """{
  "camera": "front",
  "quality": {"lowest": "Low1"},
  "wifi": [
    {"ssid": "Studio"},
    {"ssid": "Cellar"}
  ]
}
"""


@pytest.mark.parametrize(
    ("path", "value", "before", "after"),
    [
        (["camera"], "back", '"front"', '"back"'),
        (["quality", "start"], "4.5M", '{"lowest": "Low1"}', '{"lowest": "Low1", "start": "4.5M"}'),
        (["record", "when"], "live", "  ]\n}", '  ],\n  "record": {"when": "live"}\n}'),
        (["wifi", 1, "password"], 'a"b', '{"ssid": "Cellar"}', '{"ssid": "Cellar", "password": "a\\"b"}'),
        (["wifi", 2], {"ssid": "X"}, '{"ssid": "Cellar"}\n', '{"ssid": "Cellar"},\n    {"ssid": "X"}\n'),
    ],
)
def test_a_form_changes_one_value_and_no_other_character(compute, path, value, before, after):
    changed = compute("jsontext", "m.set(given[0], given[1], given[2])", TEXT, path, value)
    assert changed == TEXT.replace(before, after)


@pytest.mark.parametrize("path", [["camera"], ["quality"], ["wifi", 0], ["wifi", 1], ["wifi", 1, "ssid"], ["wifi"], ["none"]])
def test_what_is_removed_leaves_json(compute, path):
    expected = json.loads(TEXT)
    parent = expected
    for key in path[:-1]:
        parent = parent[key]
    if path[-1] != "none":
        del parent[path[-1]]
    assert json.loads(compute("jsontext", "m.remove(given[0], given[1])", TEXT, path)) == expected


def test_a_file_that_is_not_there_becomes_an_object(compute):
    assert json.loads(compute("jsontext", "m.set('', ['wifi', 0, 'ssid'], 'Studio')")) == {"wifi": [{"ssid": "Studio"}]}


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [('{"a": 1\n "b": 2}', 2, 2), ('{"a": “x”}', 1, 7), ('{"a": 1,}', 1, 9), ("", 1, 1), ('{"a": "\n"}', 1, 7), ("[1] 2", 1, 5), ("01", 1, 1)],
)
def test_a_fault_of_json_has_its_place(compute, text, line, column):
    found = compute("jsontext", "{ try { m.parse(given[0]); } catch (fault) { return [fault.line, fault.column]; } }", text)
    assert found == [line, column]


@pytest.mark.parametrize("depth", [60, 100_000])
def test_nesting_is_bounded(compute, depth):
    found = compute("jsontext", "{ try { m.parse('['.repeat(given[0]) + ']'.repeat(given[0])); return true; } catch (fault) { return fault.message; } }", depth)
    assert found is True if depth == 60 else found == "this is nested too deeply"


@pytest.mark.parametrize(
    ("text", "path", "value", "expected"),
    [
        ('{"record": "live"}', ["record", "keep"], "all", {"record": {"when": "live", "keep": "all"}}),
        ('{"record": "live"}', ["record", "when"], "", {}),
        ('{"record": {"when": "live"}, "a": 1}', ["record", "when"], "", {"a": 1}),
        ('{"mirrored": true}', ["mirrored"], False, {}),
        ("{}", ["webcam"], True, {"webcam": True}),
    ],
)
def test_an_empty_field_removes_its_key(compute, text, path, value, expected):
    assert json.loads(compute("forms", "m.withValue(given[0], given[1], given[2])", text, path, value)) == expected


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("rtmps://a.rtmps.youtube.com/live2", "YouTube"), ("rtmps://ingest.global-contribute.live-video.net/app", "Twitch"),
        ("rtmps://user:word@live-api-s.facebook.com:443/rtmp/", "Facebook"), ("rtmp://youtube.com.example.org/live", None), ("", None),
    ],
)  # fmt: skip
def test_a_service_is_known_by_its_host(compute, url, name):
    assert compute("services", "m.serviceOf(given[0])?.name", url) == name


# The state


@pytest.mark.parametrize("state", RHYTHMS)
def test_the_page_has_the_rhythm_of_the_light(compute, state):
    assert compute("rhythm", "m.rhythmOf({ state: given[0] })", state) == RHYTHMS[state]


def test_of_several_faults_the_lowest_count_blinks(compute):
    faults = [{"blinks": 7}, {"blinks": 3}]
    rhythm = compute("rhythm", "m.rhythmOf({ state: 'fault', faults: given[0] })", faults)
    assert rhythm == [250, 250, 250, 250, 250, 1500]
    lit = [compute("rhythm", "m.phase(given[0], given[1]).isLit", rhythm, time) for time in (0, 249, 250, 1249, 1250, 2749, 2750)]
    assert lit == [True, True, False, True, False, False, True]


@pytest.mark.parametrize(("failures", "seconds"), [(1, 1), (2, 2), (4, 8), (5, 15), (1000, 15)])
def test_attempts_back_off(compute, failures, seconds):
    assert compute("retry", "m.backOff(given[0])", failures) == seconds


def test_a_history_is_ten_minutes_long_and_knows_what_arrived(compute):
    expression = """{
      const history = new m.History();
      for (let time = 0; time <= 900; time += 1) {
        const targets = [{ leading: false, deliveredBytes: 0 }, { leading: true, deliveredBytes: 125000 * time }];
        const quality = time < 800 ? "High1" : "Low1";
        history.add({ bitsPerSecond: 1, bufferedSeconds: 0, quality, width: 640, height: 360, targets }, time);
      }
      return [history.samples.length, history.samples[0].time, history.latest.acknowledged, history.changes];
    }"""
    assert compute("history", expression) == [601, 300, 1_000_000, [{"time": 800, "quality": "Low1, 640×360"}]]


def test_a_new_stream_does_not_arrive_backwards(compute):
    expression = """{
      const history = new m.History();
      history.add({ bitsPerSecond: 1, deliveredBytes: 5000 }, 1);
      history.add({ bitsPerSecond: 1, deliveredBytes: 10 }, 2);
      return history.latest.acknowledged;
    }"""
    assert compute("history", expression) is None


def test_a_line_is_interrupted_where_nothing_was_measured(compute):
    samples = [{"time": 0, "sent": 1}, {"time": 1, "sent": 2}, {"time": 2}, {"time": 3, "sent": 4}, {"time": 60, "sent": 5}]
    assert compute("graph", "m.segments(given[0], 'sent')", samples) == [[[0, 1], [1, 2]], [[3, 4]], [[60, 5]]]


# The preview


@pytest.mark.parametrize(
    ("ranges", "time", "jumps", "decision"),
    [
        ([[0, 10]], 9.9, False, {"rate": 1}), ([[0, 10]], 9.75, False, {"rate": 1.15}), ([[0, 10]], 9, False, {"rate": 1.5}),
        ([[0, 10]], 5, False, {"seek": 9.9}), ([[0, 10]], 9.5, True, {"rate": 1}), ([[0, 10]], 8.5, True, {"seek": 9.9}),
        ([[0, 4], [6, 6.05]], 3.9, False, {"seek": 6}), ([[0, 4], [6, 8]], 6, False, {"rate": 1.5}), ([], 0, False, {"rate": 1}),
        ([[0, 10]], 11, False, {"seek": 9.9}),
    ],
)  # fmt: skip
def test_playback_stays_at_the_live_edge(compute, ranges, time, jumps, decision):
    assert compute("edge", "m.atEdge(given[0], given[1], 1, given[2])", ranges, time, jumps) == decision


def test_the_queue_is_bounded_and_joins_fragments(compute):
    expression = """{
      const queue = new m.AppendQueue(10);
      const fits = [queue.put("type", new ArrayBuffer(2)), queue.put(null, new ArrayBuffer(3)), queue.put(null, new ArrayBuffer(4)),
        queue.put("type", new ArrayBuffer(1)), queue.put(null, new ArrayBuffer(1))];
      const taken = [];
      while (!queue.isEmpty) { const { type, data } = queue.take(); taken.push([type, data.byteLength]); }
      return [fits, taken, queue.bytes];
    }"""
    assert compute("edge", expression) == [[True, True, True, True, False], [["type", 2], [None, 7], ["type", 1], [None, 1]], 0]


def test_what_is_too_old_is_removed(compute):
    assert compute("edge", "m.surplus([[0, 20]], 18)") == [0, 14]
    assert compute("edge", "m.surplus([[0, 3]], 2)") is None


@pytest.mark.parametrize(
    ("x", "y", "frame", "point"),
    [
        (50, 50, (1280, 720), {"x": 0.5, "y": 0.5}), (0, 10, (1280, 720), None), (0, 50, (1280, 720), {"x": 0, "y": 0.5}),
        (50, 0, (720, 1280), {"x": 0.5, "y": 0}), (10, 50, (720, 1280), None), (50, 50, (0, 0), None),
    ],
)  # fmt: skip
def test_a_touch_beside_the_frame_is_none_of_it(compute, x, y, frame, point):
    frame = dict(zip(("width", "height"), frame, strict=True))
    assert compute("edge", "m.pointInFrame(given[0], given[1], { width: 100, height: 100 }, given[2])", x, y, frame) == point


# Controls, filters, words


def test_a_slider_keeps_its_value_and_its_ends(compute):
    for value, limits, by_ratio in [(20, [0.1, 66], True), (1, [1, 2.4], False), (-8, [-8, 8], False), (2.4, [1, 2.4], False)]:
        position = compute("controls", "m.toPosition(given[0], given[1], given[2])", value, limits, by_ratio)
        back = compute("controls", "m.fromPosition(given[0], given[1], given[2])", position, limits, by_ratio)
        assert abs(back - value) <= (limits[1] - limits[0]) / 400 if not by_ratio else abs(back / value - 1) < 0.02


@pytest.mark.parametrize(
    ("control", "number"),
    [
        ({"name": "gain", "value": "auto", "reported": "auto, 19.987 ms, gain 2"}, 2),
        ({"name": "exposure-time", "value": "auto", "reported": "auto, 19.987 ms, gain 2"}, 19.987),
        ({"name": "white-balance", "value": "auto", "reported": "auto, 5600K, 1.9/1.7"}, 5600),
        ({"name": "white-balance", "value": "4000K"}, 4000), ({"name": "lens", "value": "auto"}, 1),
    ],
)  # fmt: skip
def test_a_slider_shows_what_the_camera_reports(compute, control, number):
    assert compute("controls", "m.numberOf({ range: [1, 2], ...given[0] })", control) == number


def test_microphones_have_their_gains_and_mutes(compute):
    controls = [
        {"name": "microphone-gain", "reported": "1: 6.0 dB by the card, 1.5 dB on the way, 2: -3.0 dB on the way, 3: not open"},
        {"name": "mute", "reported": "1: heard, 2: muted, 3: not open"},
    ]
    found = compute("controls", "m.microphonesOf(given[0]).map(({ number, gain, isMuted }) => [number, gain, isMuted])", controls)
    assert found == [[1, 7.5, False], [2, -3, True], [3, 0, False]]


@pytest.mark.parametrize(
    ("line", "name", "options"),
    [
        ('text,text="Studio, {time}",position=0.5,0.1', "text", [["text", "Studio, {time}"], ["position", "0.5,0.1"]]),
        (r'text,text="He said \"hi\", a=b"', "text", [["text", 'He said "hi", a=b']]),
        ("gray", "gray", []),
    ],
)
def test_a_filter_is_read_as_the_camera_writes_it(compute, line, name, options):
    assert compute("settings", "(({ name, options }) => [name, [...options]])(m.parseFilter(given[0]))", line) == [name, options]


def test_numbers_are_written_for_people(compute):
    words = compute("format", "[m.bytes(999), m.bytes(1234567), m.bytes(2e11), m.bitRate(375487), m.bitRate(4.5e6), m.bitRate(12e6), m.clock(63), m.clock(3723)]")
    assert words == ["999 B", "1.2 MB", "200 GB", "375 kbit/s", "4,500 kbit/s", "12.0 Mbit/s", "1:03", "1:02:03"]


def test_a_check_up_is_read_line_by_line(compute):
    lines = ["card:         ok: it can be written", "name lookup:  not checked: no server", "server:       problem: refused: why; next: look",
             "summary:      1 problem (server); start with server"]  # fmt: skip
    found = compute("checkup", "m.findingsOf(given[0])", lines)
    assert [(step["step"], step["result"], step["text"], step.get("next")) for step in found["steps"]] == [
        ("card", "ok", "it can be written", None), ("name lookup", "not checked", "no server", None), ("server", "problem", "refused: why", "look"),
    ]  # fmt: skip
    assert found["summary"] == "1 problem (server); start with server"
