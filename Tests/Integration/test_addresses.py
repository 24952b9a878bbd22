"""IPv6 and IPv4: numeric addresses, and names that have both."""

import pytest
from recording import Recording, assert_whole
from scenarios import SMALL
from tallycam import PATIENT, TALLYCAM, events, last_event, publish_arguments, wait_for_event

# A name with an address of each kind.
BOTH = """
set -eu
printf '::1 both.example\\n127.0.0.1 both.example\\n' > "$1"
mount --bind "$1" /etc/hosts
shift
exec "$@"
"""


@pytest.mark.parametrize("listening", ["[::1]", "127.0.0.1"])
@pytest.mark.parametrize("by_name", [False, True], ids=["address", "name"])
def test_a_stream_connects_over_either_family(children, listening, by_name):
    path = children.directory / "received.flv"
    receiver = children.start("receive", [
        TALLYCAM, "receive", "--listen", f"{listening}:0", "--record", path, "--events", "json",
    ])  # fmt: skip
    port = wait_for_event(receiver, "listening")["address"].rpartition(":")[2]
    host = "both.example" if by_name else listening
    prefix = ["unshare", "--mount", "--propagation", "unchanged", "sh", "-c", BOTH, "sh", children.directory / "hosts"]
    words = publish_arguments(f"rtmp://{host}:{port}/live/x", **SMALL, duration=1)
    publisher = children.run("publish", [*(prefix if by_name else []), TALLYCAM, *words])
    assert publisher.child.returncode == 0, publisher.report()
    assert last_event(publisher, "connected")["server"] == f"{listening}:{port}"
    # The other family refuses at once, so nothing has to be retried or awaited.
    assert [event for event in events(publisher) if event["name"] == "reconnecting"] == []
    assert last_event(publisher, "publishing")["t"] < float(PATIENT["connect_timeout"]) / 2
    wait_for_event(receiver, "publisherEnded")
    assert receiver.interrupt_and_wait() == 0
    assert_whole(Recording(path), last_event(publisher, "ended"))
