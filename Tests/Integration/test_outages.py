"""Servers and networks that fail and return while the stream is live."""

import signal
import time

import pytest
from recording import Recording
from scenarios import SideBySide, count_events, end_at_once, publish_small, wait_for_count
from servers import NginxRTMP
from tallycam import events, wait_for_event
from uplink import Network

pytestmark = [pytest.mark.takes(minutes=0.4, processors=0.3)]

# Headers and metadata are smaller than this; one more frame is larger.
BYTES_WITH_FRAMES = 4000


def start_live(children, nginx, prefix=()):
    """A stream on the server that reports its status."""
    publisher = publish_small(children, nginx.url("x"), prefix=prefix, reconnect="endless")
    wait_for_event(publisher, "publishing")
    wait_for_frames(nginx, publisher, recordings=1)
    return publisher


def wait_for_frames(nginx, publisher, recordings: int) -> None:
    """Waits until the server has this many recordings, with frames in the last one."""

    def has_come() -> bool:
        paths = nginx.all_recordings()
        return len(paths) >= recordings and paths[-1].stat().st_size > BYTES_WITH_FRAMES

    publisher.wait_until(has_come, f"frame in recording {recordings}")


def finish(nginx, publisher):
    end_at_once(publisher)
    # The last connection ended properly, so its recording is complete.
    nginx.recording(nginx.all_recordings()[-1].stem)
    nginx.process.interrupt_and_wait(signal.SIGTERM)
    paths = nginx.all_recordings()
    # After a short cut, the stream may be ended before it has read that the server accepted it again. nginx has created a file
    # by then, and writes into it when media comes.
    if paths[-1].stat().st_size == 0:
        paths.pop()
    return publisher, [Recording(path) for path in paths]


def restart(children, signal_number: int, pause: float):
    nginx = NginxRTMP(children, unique=True)
    publisher = start_live(children, nginx)
    nginx.process.send(signal_number)
    nginx.process.wait()
    # Recordings are named by the second.
    time.sleep(pause)
    nginx.start()
    wait_for_frames(nginx, publisher, 2)
    return finish(nginx, publisher)


def recorded(nginx) -> int:
    return sum(path.stat().st_size for path in nginx.all_recordings())


def wait_for_more(nginx, publisher, size: int) -> None:
    """Waits for frames on the old or a new connection, and in the last recording."""

    def has_come() -> bool:
        last = nginx.all_recordings()[-1]
        return recorded(nginx) > size + BYTES_WITH_FRAMES and last.stat().st_size > BYTES_WITH_FRAMES

    publisher.wait_until(has_come, "more frames")


def stay_cut(publisher, seconds: float) -> None:
    """Waits; a long wait continues at least until the stream reconnects."""
    time.sleep(seconds)
    if seconds > 5:
        wait_for_count(publisher, "reconnecting", 1)


def wait_for_return(nginx, publisher, seconds: float, size: int) -> None:
    """Data on its way may still arrive on the old connection, which is lost after a long cut."""
    if seconds > 5:
        wait_for_count(publisher, "publishing", 2)
        wait_for_frames(nginx, publisher, 2)
    else:
        wait_for_more(nginx, publisher, size)


def swallow(children, seconds: float):
    network = Network(children)
    nginx = NginxRTMP(children, Network.SERVER, network.prefix("server"), unique=True)
    publisher = start_live(children, nginx, network.prefix("client"))
    start = time.monotonic()
    network.swallow_packets()
    stay_cut(publisher, seconds)
    size = recorded(nginx)
    network.pass_packets()
    took = time.monotonic() - start
    wait_for_return(nginx, publisher, seconds, size)
    return *finish(nginx, publisher), took


def unplug(children, seconds: float):
    network = Network(children)
    nginx = NginxRTMP(children, Network.SERVER, network.prefix("server"), unique=True)
    publisher = start_live(children, nginx, network.prefix("client"))
    network.pull_plug()
    stay_cut(publisher, seconds)
    size = recorded(nginx)
    network.insert_plug()
    wait_for_return(nginx, publisher, seconds, size)
    return finish(nginx, publisher)


def lease_anew(children, carrier_after: float, address_after: float):
    """Carrier and address are gone; the address returns some time after the carrier."""
    network = Network(children)
    nginx = NginxRTMP(children, Network.SERVER, network.prefix("server"), unique=True)
    publisher = start_live(children, nginx, network.prefix("client"))
    network.pull_plug()
    network.lose_address()
    time.sleep(carrier_after)
    network.insert_plug()
    time.sleep(address_after)
    wait_for_count(publisher, "reconnecting", 1)
    size = recorded(nginx)
    network.get_address()
    wait_for_more(nginx, publisher, size)
    return finish(nginx, publisher)


def change_address(children):
    network = Network(children)
    nginx = NginxRTMP(children, Network.SERVER, network.prefix("server"), unique=True)
    publisher = start_live(children, nginx, network.prefix("client"))
    network.lose_address()
    network.get_address("10.77.1.3")
    wait_for_count(publisher, "reconnecting", 1)
    wait_for_count(publisher, "connected", 2)
    end_at_once(publisher)
    return publisher


def kill_beside_dead_link(children, pause: float):
    """A link that the stream does not use stays unplugged."""
    network = Network(children)
    network.run("client", "ip", "link", "add", "other", "type", "veth", "peer", "name", "other-end")
    for link in ("other", "other-end"):
        network.run("client", "ip", "link", "set", link, "up")
    nginx = NginxRTMP(children, Network.SERVER, network.prefix("server"), unique=True)
    publisher = start_live(children, nginx, network.prefix("client"))
    network.run("client", "ip", "link", "set", "other-end", "down")
    nginx.process.send(signal.SIGKILL)
    nginx.process.wait()
    time.sleep(pause)
    nginx.start()
    wait_for_frames(nginx, publisher, 2)
    return finish(nginx, publisher)


def stop_without_network(children, cut: str, is_lost: bool):
    """SIGTERM without a network: on a connection that is cut, or while reconnecting."""
    network = Network(children)
    nginx = NginxRTMP(children, Network.SERVER, network.prefix("server"), unique=True)
    publisher = start_live(children, nginx, network.prefix("client"))
    start = time.monotonic()
    getattr(network, cut)()
    stay_cut(publisher, 5.1 if is_lost else 2)
    took = time.monotonic() - start
    end_at_once(publisher)
    return publisher, took


# How the network is cut, and whether the connection is given up before the stop.
STOPS = {
    "swallowed, still connected": ("swallow_packets", False),
    "swallowed, reconnecting": ("swallow_packets", True),
    "unplugged, still connected": ("pull_plug", False),
    "unplugged, reconnecting": ("pull_plug", True),
}
# Seconds without an answer for which a connection is always kept, including the time when TCP stops retransmitting; five are
# too many.
KEPT = 2.5


RUNS = {
    "restarted": (restart, signal.SIGTERM, 1.1),
    "killed for 1 s": (restart, signal.SIGKILL, 1.1),
    "killed for 4 s": (restart, signal.SIGKILL, 4.0),
    "killed for 10 s": (restart, signal.SIGKILL, 10.0),
    "swallowed for 0.4 s": (swallow, 0.4),
    "swallowed for 1.5 s": (swallow, 1.5),
    "swallowed for 3 s": (swallow, 3),
    "swallowed for 5.3 s": (swallow, 5.3),
    "swallowed for 9 s": (swallow, 9),
    "unplugged for 2 s": (unplug, 2),
    "unplugged for 8 s": (unplug, 8),
    "leased anew": (lease_anew, 3, 4),
    "killed for 10 s, another link down": (kill_beside_dead_link, 10),
}
# TCP continues by itself.
SURVIVED = {"swallowed for 0.4 s"}
# Either the connection survives, or another one is made first.
EITHER = {"swallowed for 1.5 s", "swallowed for 3 s", "unplugged for 2 s"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    runs = SideBySide(tmp_path_factory.mktemp("outages"), workers=len(RUNS) + len(STOPS) + 1)
    for name, (function, *arguments) in RUNS.items():
        runs.start(name, function, *arguments)
    for name, (cut, is_lost) in STOPS.items():
        runs.start(f"stop {name}", stop_without_network, cut, is_lost)
    runs.start("another address", change_address)
    yield runs
    runs.end()


@pytest.mark.parametrize("name", RUNS)
def test_media_flows_again(runs, name):
    publisher, recordings, *took = runs.result(name)
    assert len(recordings) == count_events(publisher, "publishing")
    # After a short cut, data that was on its way may be enough for the wait. The stream is then ended just when it has its new
    # connection, before it has sent a frame there.
    ended_early = name in EITHER and len(recordings) > 1 and recordings[-1].path.stat().st_size < BYTES_WITH_FRAMES
    last = recordings[-2] if ended_early else recordings[-1]
    assert last.decoded.complaints == ""
    assert last.frames[0].is_keyframe
    assert last.disorder() == []
    # Data sent earlier stays readable.
    assert recordings[0].frames[0].is_keyframe
    if name in SURVIVED and took[0] < KEPT:
        assert len(recordings) == 1
        assert count_events(publisher, "reconnecting") == 0
    elif name not in SURVIVED | EITHER:
        assert len(recordings) >= 2
    if name == "unplugged for 8 s":
        # The lost connection is ended before the new one requests the stream's name.
        assert -1008 not in [event["cause"] for event in events(publisher) if event["code"] == 3003]


@pytest.mark.parametrize("name", ["killed for 10 s", "swallowed for 9 s", "killed for 10 s, another link down"])
def test_reconnection_attempts_are_never_far_apart(runs, name):
    """Nothing signals that a server or a path is back, so new connections are tried all the time."""
    publisher = runs.result(name)[0]
    delays = [event["delay"] for event in events(publisher) if event["name"] == "reconnecting"]
    assert delays and max(delays) <= 1, delays


def test_a_path_that_drops_packets_is_noticed(runs):
    publisher = runs.result("swallowed for 9 s")[0]
    retry = next(event for event in events(publisher) if event["code"] == 3004)
    assert retry["cause"] == -1015


@pytest.mark.parametrize("seconds", [2, 8])
def test_a_link_is_reported_before_the_connection_is_lost(runs, seconds):
    publisher = runs.result(f"unplugged for {seconds} s")[0]
    names = [event["name"] for event in events(publisher)]
    assert names.count("linkDown") == names.count("linkUp") == 1
    # TCP needs five seconds to find out.
    assert names.index("linkDown") < names.index("reconnecting") if seconds == 8 else names.index("linkDown") < names.index("linkUp")


def test_a_connection_without_its_address_is_given_up_at_once(runs):
    """Not only after five seconds without answers."""
    # The server cannot be notified, so it blocks the name until it detects the loss.
    publisher = runs.result("another address")
    [cause, *_] = [event["cause"] for event in events(publisher) if event["code"] == 3004]
    assert cause == -1013


@pytest.mark.parametrize("name", STOPS)
def test_a_stop_without_a_network_does_not_wait(runs, name):
    publisher, took = runs.result(f"stop {name}")
    happened = events(publisher)
    assert happened[-1]["name"] == "ended"
    states = [event["state"] for event in happened if event["name"] == "stateChanged"]
    before_the_stop = [state for state in states if state not in ("disconnecting", "disconnected")]
    is_lost = STOPS[name][1]
    assert before_the_stop[-1] == ("reconnecting" if is_lost else "live") or not is_lost and took > KEPT
