"""A way to a server that a test cuts and restores, in network namespaces of its own."""

import subprocess


class Network:
    """Three namespaces in a row: publisher, router, server."""

    SERVER = "10.77.2.2"

    def __init__(self, children):
        self.holders = {
            name: children.start(f"{name}-namespace", ["unshare", "--net", "sleep", "infinity"])
            for name in ("client", "router", "server")
        }
        own = subprocess.run(["readlink", "/proc/self/ns/net"], capture_output=True, text=True).stdout
        for process in self.holders.values():
            process.wait_until(lambda: self._namespace(process) not in ("", own), "namespace")
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
        """The publisher's packets are lost silently on the way."""
        self.run("router", "ip", "route", "add", "blackhole", f"{self.SERVER}/32")

    def pass_packets(self) -> None:
        self.run("router", "ip", "route", "del", "blackhole", f"{self.SERVER}/32")

    def lose_address(self) -> None:
        """Like DHCP clients when the carrier is gone; the routes disappear too."""
        self.run("client", "ip", "address", "flush", "dev", "uplink")

    def get_address(self, address: str = "10.77.1.2") -> None:
        self.run("client", "ip", "address", "add", f"{address}/24", "dev", "uplink")
        self.run("client", "ip", "route", "add", "default", "via", "10.77.1.1")

    def pull_plug(self) -> None:
        """The publisher's interface loses its carrier."""
        self.run("router", "ip", "link", "set", "to-client", "down")

    def insert_plug(self) -> None:
        self.run("router", "ip", "link", "set", "to-client", "up")
