"""Ways into the camera from outside: sockets that somebody may send to, and programs that let somebody in."""

import re

from board import Board

# What asks for a name and password, or makes one.
LOGIN = {"login", "su", "sulogin", "vlock", "getty", "sshd", "dropbear", "passwd", "chpasswd", "adduser"}
# What lets somebody in over the network, or another program do so.
SERVERS = {
    "telnetd", "ftpd", "tftpd", "httpd", "inetd", "tcpsvd", "udpsvd", "nc", "dnsd", "udhcpd", "dhcprelay", "fakeidentd",
    "lpd",
}  # fmt: skip
# What would run by itself, if somebody started it.
DAEMONS = {"syslogd", "klogd", "crond", "acpid", "inotifyd", "ifplugd", "zcip", "runsvdir", "bootchartd"}
TESTS_SHELL = 7001


def listeners(board: Board) -> set[tuple[str, int, str]]:
    """As `ss -ltnup` shows them: protocol, port, program. Of TCP those that listen, of UDP those that are bound and not
    connected. The tests' own shell is left out."""
    owners = socket_owners(board)
    found = set()
    for protocol in ("tcp", "tcp6", "udp", "udp6"):
        for line in board.run(f"tail -n +2 /proc/net/{protocol} 2>/dev/null || true").text.splitlines():
            words = line.split()
            port, state = int(words[1].rpartition(":")[2], 16), words[3]
            # 0A: listening; 07: a UDP socket without a peer.
            if state in ("0A", "07") and port != TESTS_SHELL:
                found.add((protocol[:3], port, owners.get(words[9], "nobody")))
    return found


def socket_owners(board: Board) -> dict[str, str]:
    """The program's name of each socket's inode."""

    def names() -> dict[str, str]:
        return dict(re.findall(r"/proc/(\d+)/comm:(.*)", board.run("grep -H . /proc/[0-9]*/comm 2>/dev/null || true").text))

    # Programs start and end meanwhile.
    before = names()
    listing = board.run("ls -l /proc/[0-9]*/fd 2>/dev/null || true").text
    names_of = before | names()
    owners, pid = {}, ""
    for line in listing.splitlines():
        if header := re.match(r"/proc/(\d+)/fd:", line):
            pid = header[1]
        elif socket := re.search(r"socket:\[(\d+)\]", line):
            owners[socket[1]] = names_of.get(pid, pid)
    return owners


def has_no_login(board: Board) -> bool:
    """No program on the card that asks for a name and password, opens a door, or runs beside Tallycam without being
    needed; and no password that would do."""
    password = board.run("cut -d: -f2 /etc/shadow").text.split()
    names = " ".join(sorted(LOGIN | SERVERS | DAEMONS))
    found = board.run(f"for name in {names}; do command -v $name; done; true").text.split()
    # Links may be missing where busybox has the program.
    built = set(board.run("busybox --list").text.split()) & (LOGIN | SERVERS | DAEMONS)
    print(f"on the card: {found}, in busybox: {sorted(built)}")
    return password == ["*"] and not found and not built
