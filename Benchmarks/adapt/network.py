"""A camera's uplink: three network namespaces in a row, and a router in the middle whose rate can be set."""

import subprocess
import time

SERVER = "10.78.2.2"


class Uplink:
    """The publisher's namespace, a router's and the server's, for the duration of the `with`."""

    def __init__(self, queue_bytes: int, congestion_control: str):
        self.queue_bytes = queue_bytes
        self.is_cut = False
        self.holders = {
            name: subprocess.Popen(["unshare", "--net", "sleep", "3600"]) for name in ("client", "router", "server")
        }
        try:
            self._build(congestion_control)
        except BaseException:
            self.__exit__()
            raise

    def _build(self, congestion_control: str) -> None:
        for holder in self.holders.values():
            self._await_namespace(holder.pid)
        self._connect("client", "10.78.1.2", "10.78.1.1")
        self._connect("server", SERVER, "10.78.2.1")
        self._run("router", "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
        for name in ("client", "server"):
            control = f"echo {congestion_control} > /proc/sys/net/ipv4/tcp_congestion_control"
            self._run(name, "sh", "-c", control)

    def __enter__(self) -> "Uplink":
        return self

    def __exit__(self, *_) -> None:
        for holder in self.holders.values():
            holder.kill()
            holder.wait()

    @staticmethod
    def _await_namespace(pid: int) -> None:
        def namespace(which) -> str:
            return subprocess.run(["readlink", f"/proc/{which}/ns/net"], capture_output=True, text=True).stdout

        deadline = time.monotonic() + 5
        while namespace(pid) in ("", namespace("self")):
            if time.monotonic() > deadline:
                raise SystemExit("no network namespace could be made; this needs root rights")
            time.sleep(0.01)

    def prefix(self, name: str) -> list[str]:
        return ["nsenter", f"--net=/proc/{self.holders[name].pid}/ns/net"]

    def _run(self, name: str, *words: str) -> None:
        subprocess.run([*self.prefix(name), *words], check=True)

    def _connect(self, edge: str, edge_address: str, router_address: str) -> None:
        far = f"to-{edge}"
        peer = ["peer", "name", far, "netns", str(self.holders["router"].pid)]
        self._run(edge, "ip", "link", "set", "lo", "up")
        self._run(edge, "ip", "link", "add", "uplink", "type", "veth", *peer)
        for name, link, address in ((edge, "uplink", edge_address), ("router", far, router_address)):
            self._run(name, "ip", "address", "add", f"{address}/24", "dev", link)
            self._run(name, "ip", "link", "set", link, "up")
        self._run(edge, "ip", "route", "add", "default", "via", router_address)

    def received_bytes(self) -> int:
        """The bytes that the server's interface has received so far, with all headers."""
        words = [*self.prefix("server"), "cat", "/proc/self/net/dev"]
        lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
        return next(int(line.split()[1]) for line in lines if line.strip().startswith("uplink:"))

    def set_rate(self, kilobits: int) -> None:
        """Sets the rate at which the router forwards to the server; with 0, all packets vanish in both directions."""
        if self.is_cut != (kilobits == 0):
            self.is_cut = kilobits == 0
            verb = "add" if self.is_cut else "del"
            for address in (f"{SERVER}/32", "10.78.1.2/32"):
                self._run("router", "ip", "route", verb, "blackhole", address)
        if kilobits:
            shape = ["rate", f"{kilobits}kbit", "burst", "4000", "limit", str(self.queue_bytes)]
            self._run("router", "tc", "qdisc", "replace", "dev", "to-server", "root", "tbf", *shape)
