"""An access point in the guest, on one of two radios of the kernel's mac80211_hwsim; the card's system has the other radio.

Its network is the board's second network card, which is taken away from the card's system for this purpose. The access point's
network reaches the host and nothing else.
"""

import struct
from pathlib import Path

from card import CardBoard
from made import made
from waiting import wait_until

CONFIGURATION = """interface=wlan1
bridge=bridge
driver=nl80211
ssid={name}
hw_mode=g
channel=1
wpa=2
wpa_key_mgmt=WPA-PSK
rsn_pairwise=CCMP
wpa_passphrase={password}
"""


def archive() -> bytes:
    return (Path(made("scripts/card-parts")) / "access-point.tar").read_bytes()


class AccessPoint:
    def __init__(self, board: CardBoard, name: str, password: str):
        self.board = board
        board.run("mkdir -p /tmp/air && tar -x -C /tmp/air", stdin=archive(), timeout=120)
        board.put("/tmp/air/hostapd.conf", CONFIGURATION.format(name=name, password=password))
        # The access point runs in a network namespace of its own, which exists as long as one of its processes.
        self.air = board.start("exec unshare -n sleep 100000").pid
        board.run(
            "cd /tmp/air; while read -r module; do test -e /sys/module/$(echo ${module%.ko} | tr - _) ||"
            " insmod modules/$module $(case $module in mac80211_hwsim*) echo radios=2;; esac); done <modules/list;"
            " n=0; until test -e /sys/class/net/wlan1 || [ $n = 50 ]; do sleep 0.1; n=$((n + 1)); done;"
            f" until test $(readlink /proc/{self.air}/ns/net) != $(readlink /proc/self/ns/net); do sleep 0.1; done;"
            f" ./iw phy phy$(cat /sys/class/net/wlan1/phy80211/index) set netns {self.air} &&"
            f" ip link set eth1 netns {self.air}"
        )
        self.run("ip link set lo up; ip link add bridge type bridge; ip link set eth1 up; ip link set eth1 master bridge;"
                 " ip link set bridge up; ip addr add 10.0.2.77/24 dev bridge")  # fmt: skip
        self.start()

    def run(self, script: str, **options):
        """Runs a command in the access point's network namespace."""
        return self.board.run(f"exec nsenter -t {self.air} -n sh -c '{script}'", **options)

    def start(self) -> None:
        self.run("cd /tmp/air; ./hostapd -B -P /tmp/air/hostapd.pid hostapd.conf </dev/null >hostapd.log 2>&1")

    def stop(self) -> None:
        self.run("kill $(cat /tmp/air/hostapd.pid); while test -e /tmp/air/hostapd.pid; do sleep 0.1; done; ip link set wlan1 down")

    def asked(self, name: str) -> bytes:
        """The network's answer to a multicast DNS query (RFC 6762) for a name's IPv4 address."""
        labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
        question = struct.pack("!6H", 7, 0, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!2H", 1, 1)
        self.board.put("/tmp/air/question", question)

        def answer() -> bytes | None:
            found = self.run(
                "socat -t 2 - UDP4-DATAGRAM:224.0.0.251:5353,bind=:5353,reuseaddr,ip-multicast-if=10.0.2.77,"
                "ip-multicast-loop=0,ip-add-membership=224.0.0.251:10.0.2.77 </tmp/air/question"
            ).data
            return found if len(found) > len(question) else None

        return wait_until(answer, 30, f"{name} is not found")

    def close(self) -> None:
        """Gives the cable and the radio back."""
        self.stop()
        self.board.run(
            f"nsenter -t {self.air} -n sh -c 'ip link set eth1 nomaster; ip link set eth1 netns 1'; kill {self.air};"
            " rmmod mac80211_hwsim; { /etc/init.d/S30network stop; /etc/init.d/S30network start; } </dev/null >/dev/null 2>&1"
        )
