"""Servers and networks that go away and come back while the stream is live."""

import signal
import subprocess
import time

import pytest
from recording import Recording
from scenarios import SideBySide, count_events, publish_small, seconds_to_end, wait_for_count
from servers import NginxRTMP
from tallycam import events, wait_for_event

pytestmark = [pytest.mark.takes(minutes=0.4, processors=0.3), pytest.mark.paced]

# Headers and metadata are smaller; one frame more is larger.
BYTES_WITH_FRAMES = 4000


class Network:
    """Three namespaces in a row: the publisher's, a router's, and the server's."""

    SERVER = "10.77.2.2"

    def __init__(self, children):
        self.holders = {
            name: children.start(f"{name}-namespace", ["unshare", "--net", "sleep", "600"])
            for name in ("client", "router", "server")
        }
        own = subprocess.run(["readlink", "/proc/self/ns/net"], capture_output=True, text=True).stdout
        for process in self.holders.values():
            process.wait_until(lambda: self._namespace(process) not in ("", own), 5, "namespace")
        self._connect("client", "router", "10.77.1.2", "10.77.1.1")
        self._connect("server", "router", self.SERVER, "10.77.2.1")
        self.run("router", "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")

    @staticmethod
    def _namespace(process) -> str:
        link = ["readlink", f"/proc/{process.child.pid}/ns/net"]
        return subprocess.run(link, capture_output=True, text=True).stdout

    def prefix(self, name: str) -> tuple:
        return ("nsenter", f"--net=/proc/{self.holders[name].child.pid}/ns/net")

    def run(self, name: str, *words: str) -> None:
        subprocess.run([*self.prefix(name), *words], check=True)

    def _connect(self, edge: str, middle: str, edge_address: str, middle_address: str) -> None:
        far = f"to-{edge}"
        self.run(edge, "ip", "link", "set", "lo", "up")
        peer = ["peer", "name", far, "netns", str(self.holders[middle].child.pid)]
        self.run(edge, "ip", "link", "add", "uplink", "type", "veth", *peer)
        for name, link, address in ((edge, "uplink", edge_address), (middle, far, middle_address)):
            self.run(name, "ip", "address", "add", f"{address}/24", "dev", link)
            self.run(name, "ip", "link", "set", link, "up")
        self.run(edge, "ip", "route", "add", "default", "via", middle_address)

    def swallow_packets(self) -> None:
        """What the publisher sends vanishes on the way; nobody learns of it."""
        self.run("router", "ip", "route", "add", "blackhole", f"{self.SERVER}/32")

    def pass_packets(self) -> None:
        self.run("router", "ip", "route", "del", "blackhole", f"{self.SERVER}/32")

    def lose_address(self) -> None:
        """As DHCP clients do when the carrier is gone; the routes go with it."""
        self.run("client", "ip", "address", "flush", "dev", "uplink")

    def get_address(self, address: str = "10.77.1.2") -> None:
        self.run("client", "ip", "address", "add", f"{address}/24", "dev", "uplink")
        self.run("client", "ip", "route", "add", "default", "via", "10.77.1.1")

    def pull_plug(self) -> None:
        """The publisher's interface loses its carrier."""
        self.run("router", "ip", "link", "set", "to-client", "down")

    def insert_plug(self) -> None:
        self.run("router", "ip", "link", "set", "to-client", "up")


def start_live(children, nginx, prefix=()):
    """A stream that is on the server, and says how it goes."""
    publisher = publish_small(children, nginx.url("x"), prefix=prefix, reconnect="endless")
    wait_for_event(publisher, "publishing", 10)
    wait_for_frames(nginx, publisher, recordings=1, timeout=5)
    time.sleep(1)
    return publisher


def wait_for_frames(nginx, publisher, recordings: int, timeout: float) -> float:
    """Waits until the server has so many recordings, with frames in the last; says how long that took."""

    def has_come() -> bool:
        paths = nginx.all_recordings()
        return len(paths) >= recordings and paths[-1].stat().st_size > BYTES_WITH_FRAMES

    start = time.monotonic()
    publisher.wait_until(has_come, timeout, f"frame in recording {recordings}")
    return time.monotonic() - start


def finish(nginx, publisher, took):
    time.sleep(1.5)
    assert seconds_to_end(publisher) < 1
    time.sleep(0.5)
    nginx.process.send(signal.SIGTERM)
    nginx.process.wait(5)
    return publisher, [Recording(path) for path in nginx.all_recordings()], took


def restart(children, signal_number: int, pause: float):
    nginx = NginxRTMP(children, unique=True)
    publisher = start_live(children, nginx)
    nginx.process.send(signal_number)
    nginx.process.wait(5)
    # Recordings are named by the second.
    time.sleep(pause)
    nginx.start()
    return finish(nginx, publisher, wait_for_frames(nginx, publisher, 2, 10))


def recorded(nginx) -> int:
    return sum(path.stat().st_size for path in nginx.all_recordings())


def wait_for_more(nginx, publisher, size: int) -> float:
    """Waits for frames on the old connection or a new one; says how long that took."""
    start = time.monotonic()
    publisher.wait_until(lambda: recorded(nginx) > size + BYTES_WITH_FRAMES, 15, "more frames")
    return time.monotonic() - start


def swallow(children, seconds: float):
    network = Network(children)
    nginx = NginxRTMP(children, Network.SERVER, network.prefix("server"), unique=True)
    publisher = start_live(children, nginx, network.prefix("client"))
    network.swallow_packets()
    time.sleep(seconds)
    size = recorded(nginx)
    network.pass_packets()
    return finish(nginx, publisher, wait_for_more(nginx, publisher, size))


def unplug(children, seconds: float):
    network = Network(children)
    nginx = NginxRTMP(children, Network.SERVER, network.prefix("server"), unique=True)
    publisher = start_live(children, nginx, network.prefix("client"))
    network.pull_plug()
    time.sleep(seconds)
    size = recorded(nginx)
    network.insert_plug()
    return finish(nginx, publisher, wait_for_more(nginx, publisher, size))


def lease_anew(children, carrier_after: float, address_after: float):
    """The carrier is gone, and the address with it; it comes back some time after the carrier."""
    network = Network(children)
    nginx = NginxRTMP(children, Network.SERVER, network.prefix("server"), unique=True)
    publisher = start_live(children, nginx, network.prefix("client"))
    network.pull_plug()
    network.lose_address()
    time.sleep(carrier_after)
    network.insert_plug()
    time.sleep(address_after)
    size = recorded(nginx)
    network.get_address()
    return finish(nginx, publisher, wait_for_more(nginx, publisher, size))


def change_address(children):
    network = Network(children)
    nginx = NginxRTMP(children, Network.SERVER, network.prefix("server"), unique=True)
    publisher = start_live(children, nginx, network.prefix("client"))
    network.lose_address()
    network.get_address("10.77.1.3")
    start = time.monotonic()
    wait_for_count(publisher, "reconnecting", 1, 5)
    noticed = time.monotonic() - start
    wait_for_count(publisher, "connected", 2, 5)
    connected = time.monotonic() - start
    seconds_to_end(publisher)
    return publisher, noticed, connected


def kill_beside_dead_link(children, pause: float):
    """A link that the stream does not go through is unplugged all the time."""
    network = Network(children)
    network.run("client", "ip", "link", "add", "other", "type", "veth", "peer", "name", "other-end")
    for link in ("other", "other-end"):
        network.run("client", "ip", "link", "set", link, "up")
    nginx = NginxRTMP(children, Network.SERVER, network.prefix("server"), unique=True)
    publisher = start_live(children, nginx, network.prefix("client"))
    network.run("client", "ip", "link", "set", "other-end", "down")
    nginx.process.send(signal.SIGKILL)
    nginx.process.wait(5)
    time.sleep(pause)
    nginx.start()
    return finish(nginx, publisher, wait_for_frames(nginx, publisher, 2, 10))


def stop_without_network(children, cut: str, seconds: float):
    """SIGTERM after so long without a network: on a connection that nothing gets through, or while reconnecting."""
    network = Network(children)
    nginx = NginxRTMP(children, Network.SERVER, network.prefix("server"), unique=True)
    publisher = start_live(children, nginx, network.prefix("client"))
    getattr(network, cut)()
    time.sleep(seconds)
    return publisher, seconds_to_end(publisher)


# How the network is cut, for how long, and in which state the stream is then.
STOPS = {
    "swallowed, still connected": ("swallow_packets", 2, "connected"),
    "swallowed, reconnecting": ("swallow_packets", 7.5, "reconnecting"),
    "unplugged, still connected": ("pull_plug", 2, "connected"),
    "unplugged, reconnecting": ("pull_plug", 7.5, "reconnecting"),
}


RUNS = {
    "restarted": (restart, signal.SIGTERM, 0),
    "killed for 1 s": (restart, signal.SIGKILL, 1.0),
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
# Nobody tells of packets that come through again: new connections are tried all the time. A link's return is
# announced at once, and nothing has to wait for another attempt.
LIMIT = 1
LIMITS = {"unplugged for 2 s": 0.6, "unplugged for 8 s": 0.6}

# TCP goes on by itself.
SURVIVED = {"swallowed for 0.4 s"}
# The connection may live, or another come about before it does.
EITHER = {"swallowed for 1.5 s", "swallowed for 3 s", "unplugged for 2 s"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    runs = SideBySide(tmp_path_factory.mktemp("outages"), workers=len(RUNS) + len(STOPS) + 1)
    for name, (function, *arguments) in RUNS.items():
        runs.start(name, function, *arguments)
    for name, (cut, seconds, _) in STOPS.items():
        runs.start(f"stop {name}", stop_without_network, cut, seconds)
    runs.start("another address", change_address)
    yield runs
    runs.end()


@pytest.mark.parametrize("name", RUNS)
def test_media_flows_again(runs, name):
    publisher, recordings, took = runs.result(name)
    assert publisher.child.returncode == 0, publisher.report()
    assert took < LIMITS.get(name, LIMIT), publisher.report()
    last = recordings[-1]
    assert last.decoded.complaints == ""
    assert last.frames[0].is_keyframe
    assert last.disorder() == []
    # What was sent before stays readable.
    assert recordings[0].frames[0].is_keyframe
    assert len(recordings) == count_events(publisher, "publishing")
    if name in SURVIVED:
        assert len(recordings) == 1
        assert count_events(publisher, "reconnecting") == 0
    elif name == "unplugged for 8 s":
        # The connection that is no more is ended before the new one asks for the stream's name.
        assert len(recordings) == 2
        assert [event["cause"] for event in events(publisher) if event["code"] == 3003] == []
    elif name in EITHER:
        assert len(recordings) == 1 + count_events(publisher, "reconnecting")
    else:
        assert len(recordings) == 2


def test_a_way_that_swallows_packets_is_noticed_within_five_seconds(runs):
    publisher, _, _ = runs.result("swallowed for 9 s")
    [retry] = [event for event in events(publisher) if event["code"] == 3004]
    assert retry["cause"] == -1015
    published = next(event["t"] for event in events(publisher) if event["code"] == 1002)
    # The stream ran for a second and some before.
    assert retry["t"] - published < 5 + 3


@pytest.mark.parametrize("seconds", [2, 8])
def test_a_link_is_reported_at_once(runs, seconds):
    publisher, _, _ = runs.result(f"unplugged for {seconds} s")
    [down] = [event["t"] for event in events(publisher) if event["name"] == "linkDown"]
    [up] = [event["t"] for event in events(publisher) if event["name"] == "linkUp"]
    # Linux tells of one lost carrier a second.
    assert seconds - 1.2 < up - down < seconds + 0.3
    # TCP takes five seconds to find out.
    assert all(event["t"] > down + 4 for event in events(publisher) if event["code"] == 3004) or seconds == 2


def test_a_connection_whose_address_is_gone_is_given_up_at_once(runs):
    # The server cannot be notified, and gives the name to nobody else before it misses the old connection.
    publisher, noticed, connected = runs.result("another address")
    assert noticed < 0.5, publisher.report()
    assert connected < 1, publisher.report()
    [cause, *_] = [event["cause"] for event in events(publisher) if event["code"] == 3004]
    assert cause == -1013


@pytest.mark.parametrize("name", STOPS)
def test_a_stop_without_a_network_takes_less_than_a_second(runs, name):
    publisher, seconds = runs.result(f"stop {name}")
    assert publisher.child.returncode == 0, publisher.report()
    assert seconds < 1, publisher.report()
    happened = events(publisher)
    assert happened[-1]["name"] == "ended"
    states = [event["state"] for event in happened if event["name"] == "stateChanged"]
    before_the_stop = [state for state in states if state not in ("disconnecting", "disconnected")]
    assert before_the_stop[-1] == STOPS[name][2]
