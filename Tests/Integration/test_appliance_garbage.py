"""Garbage in each of the files on the card: `tallycam run` stays up, reports it, and recovers when the file is repaired."""

import json
import random

import pytest
from appliance import BOARD, DEVICE, Appliance, has_route
from scenarios import run_selected

pytestmark = pytest.mark.takes(minutes=0.5, processors=0.15)

GOOD = {
    "board": BOARD, "device": DEVICE, "stream": {"url": "rtmp://127.0.0.1:1/live", "key": "not-for-anybodys-eyes"},
    "network": {"hostName": "camera-2", "country": "DE", "timeServers": ["time.example"]},
}  # fmt: skip


def mutated(text: bytes, source: random.Random) -> bytes:
    """Makes one to four small changes that break the JSON, or adds an unknown name."""
    while True:
        result = bytearray(text)
        for _ in range(source.randint(1, 4)):
            place = source.randrange(len(result))
            match source.randrange(4):
                case 0: result[place] ^= 1 << source.randrange(8)
                case 1: del result[place : place + source.randint(1, 9)]
                case 2: result[place:place] = source.randbytes(source.randint(1, 9))
                case 3: result[place:place] = result[: source.randint(1, 9)]  # fmt: skip
            result = result or bytearray(b"{")
        try:
            json.loads(bytes(result))
        except ValueError:
            return bytes(result)


def contents(file: str) -> list[bytes]:
    source = random.Random(file)
    text = json.dumps(GOOD[file]).encode()
    return [
        source.randbytes(5000), mutated(text, source), mutated(text, source), text[: len(text) // 2], b"[" * 100_000,
        b'{"a": [], "a": 1, "' + b"n" * 70_000 + b'": {}, "\\u0000\\u001b[2J": 1e308}',
    ]  # fmt: skip


@pytest.fixture(scope="module")
def damaged(request, tmp_path_factory):
    runs = run_selected(request, tmp_path_factory.mktemp("damaged"), damage_and_mend)
    yield runs
    runs.end()


@pytest.mark.parametrize("case", GOOD)
def test_garbage_is_reported_until_repaired(damaged, case):
    damaged.result(case)


def damage_and_mend(children, file):
    camera = Appliance(children, **GOOD)
    usual = "ready" if has_route() else "no network"
    camera.wait_for(usual)
    blinks = {"board": 9, "stream": 2}.get(file, 3)
    for content in contents(file):
        camera.write(file, content)
        faults = camera.wait_for_faults(f"{file}.json, line ")
        assert f"({blinks} blinks)" in faults and len(faults) < 20_000
        assert all(character >= " " or character in "\r\n" for character in faults)
        assert blinks in [fault["blinks"] for fault in camera.status()["faults"]]
        camera.write(file, GOOD[file])
        camera.wait_for_faults()
        camera.wait_for(usual)
    assert camera.process.child.poll() is None
    assert "not-for-anybodys-eyes" not in camera.events()
