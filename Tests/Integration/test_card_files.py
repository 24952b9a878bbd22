"""`tallycam check` and `tallycam network`: the card's JSON files, before and after they are copied to it."""

import json

import pytest
from tallycam import CHECKOUT, TALLYCAM

pytestmark = [pytest.mark.takes(minutes=0.1, processors=0.1)]

GOOD = {
    "stream.json": {"url": "rtmp://127.0.0.1:1/live", "key": "k-secret-1"},
    "device.json": {"dimension": "640x480"},
    "network.json": {"country": "DE", "wifi": [{"ssid": "Studio", "password": "hush-hush"}]},
    "board.json": {"name": "Bench", "button": {"line": "GPIO17"}},
}
FAULTY = {
    "device.json": ({"reconnectAttempts": "forever"}, "reconnectAttempts"),
    "network.json": ({"country": "Germany"}, "country"),
    "board.json": ({"name": "x", "encoder": "x264"}, "encoder"),
    "stream.json": ({"url": "http://127.0.0.1/"}, "url"),
}


def write(path, content):
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize("name", ["as on the card", "other names"])
def test_good_files_are_checked_together(children, tmp_path, name):
    paths = []
    for file, content in GOOD.items():
        paths.append(write(tmp_path / (file if name == "as on the card" else f"my-{file[:3]}.txt"), content))
    check = children.run("check", [TALLYCAM, "check", *paths])
    assert check.child.returncode == 0 and check.stderr == "", check.report()
    assert [line.partition(": can be used")[0] for line in check.stdout.splitlines()] == [str(path) for path in paths]
    for file in ("device.json", "network.json", "board.json"):
        assert f"can be used as {file}" in check.stdout
    assert "secret" not in check.stdout and "hush" not in check.stdout


@pytest.mark.parametrize("file", FAULTY)
def test_a_fault_in_any_file_is_named_with_its_place(children, tmp_path, file):
    content, key = FAULTY[file]
    path, good = write(tmp_path / file, content), write(tmp_path / "good.json", {"dimension": "720p"})
    check = children.run("check", [TALLYCAM, "check", path, good])
    assert check.child.returncode == 2, check.report()
    assert check.stderr.startswith(f"tallycam: {path}:1:") and f": {key}: " in check.stderr
    assert check.stdout == f"{good}: can be used as device.json\n", "the other file is checked all the same"


def test_an_unrelated_file_is_refused(children, tmp_path):
    path = write(tmp_path / "other.json", {"color": "red"})
    check = children.run("check", [TALLYCAM, "check", path])
    assert check.child.returncode == 2 and "none of its keys identifies the kind of file; name it stream.json" in check.stderr
    assert "color" not in check.stderr, "it may be a secret"


def test_a_missing_pause_image_is_a_warning(children, tmp_path):
    path = write(tmp_path / "stream.json", {**GOOD["stream.json"], "pauseImage": "slate.png"})
    check = children.run("check", [TALLYCAM, "check", path])
    assert check.child.returncode == 0, check.report()
    [warning, good] = check.stdout.splitlines()
    assert warning.startswith(f"{path}:1:") and f": pauseImage: warning: open {tmp_path}/slate.png: " in warning
    assert good.startswith(f"{path}: can be used; it publishes to ")


@pytest.mark.parametrize("content, key, problem", [
    ({"filters": [{"filter": "image", "file": "/nowhere/logo.png"}]}, "filters[0].file",
     "filter image: open /nowhere/logo.png: No such file or directory (ENOENT); the filter is skipped"),
    ({"filters": [{"filter": "gray"}, {"filter": "lut", "file": "/dev/null"}]}, "filters[1].file",
     "filter lut: /dev/null is not a regular file; the filter is skipped"),
    ({"camera": "image:/nowhere/slate.png"}, "camera", "open /nowhere/slate.png: No such file or directory (ENOENT)"),
    ({"camera": "movie:"}, "camera", "the file name is missing; write movie:FILE"),
    ({"cameras": {"slate": "image:/dev/null", "test": "synthetic"}}, "cameras.slate",
     "/dev/null is not a regular file; images and movies are files"),
])  # fmt: skip
def test_an_unusable_file_named_in_device_json_is_a_warning(children, tmp_path, content, key, problem):
    path = write(tmp_path / "device.json", content)
    check = children.run("check", [TALLYCAM, "check", path])
    assert check.child.returncode == 0 and check.stderr == "", check.report()
    [warning, usable] = check.stdout.splitlines()
    assert warning.startswith(f"{path}:1:") and warning.endswith(f": {key}: warning: {problem}"), check.report()
    assert usable == f"{path}: can be used as device.json"


def test_the_samples_on_the_card_are_valid(children):
    files = [CHECKOUT / "board/common" / name for name in ("device.json", "network.json")]
    check = children.run("check", [TALLYCAM, "check", *files, *sorted(CHECKOUT.glob("board/*/board.json"))])
    assert check.child.returncode == 0, check.report()


def test_network_reports_a_missing_file_and_writes_defaults(children, tmp_path):
    path = tmp_path / "missing.json"
    run = children.run("network", [TALLYCAM, "network", "--file", path, "--output", tmp_path])
    assert run.child.returncode == 2, run.report()
    assert f"{path}:1:1: the file is missing" in run.stderr
    assert f"settings were written to {tmp_path}, with defaults" in run.stderr
    assert (tmp_path / "hostname").read_text() == "tallycam\n"


@pytest.mark.parametrize("text, fault", [("{", ":1:2: "), ('{"hostName": "my camera", "country": "DE"}', "hostName")])
def test_network_reports_a_faulty_file_and_writes_the_rest(children, tmp_path, text, fault):
    path = tmp_path / "network.json"
    path.write_text(text)
    run = children.run("network", [TALLYCAM, "network", "--file", path, "--output", tmp_path])
    assert run.child.returncode == 2, run.report()
    assert fault in run.stderr and "settings were written" in run.stderr
    assert (tmp_path / "hostname").read_text() == "tallycam\n"


def test_network_accepts_warnings(children, tmp_path):
    path = write(tmp_path / "network.json", {"hostName": "camera-2", "wifi": [{"ssid": "Studio"}]})
    run = children.run("network", [TALLYCAM, "network", "--file", path, "--output", tmp_path])
    assert run.child.returncode == 0 and "warning: is missing; some channels are not used" in run.stderr, run.report()
    assert (tmp_path / "hostname").read_text() == "camera-2\n"
