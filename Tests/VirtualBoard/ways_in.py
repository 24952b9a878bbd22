"""Ways into the camera from outside: sockets that accept data, and programs that permit a login."""

import re

from board import Board

# Programs that ask for a name and password, or set one.
LOGIN = {"login", "su", "sulogin", "vlock", "getty", "sshd", "dropbear", "passwd", "chpasswd", "adduser"}
# Programs that open the camera to the network, or make another program do so.
SERVERS = {
    "telnetd", "ftpd", "tftpd", "httpd", "inetd", "tcpsvd", "udpsvd", "nc", "dnsd", "udhcpd", "dhcprelay", "fakeidentd",
    "lpd",
}  # fmt: skip
# Programs that would do so on their own once started.
DAEMONS = {"syslogd", "klogd", "crond", "acpid", "inotifyd", "ifplugd", "zcip", "runsvdir", "bootchartd"}
TESTS_SHELL = 7001


def listeners(board: Board) -> set[tuple[str, int, str]]:
    """Sockets in the notation of `ss -ltnup`: protocol, port, program. Of TCP the listening ones, of UDP those that are bound
    but not connected. The tests' own shell is left out."""
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
    """The name of the program for each socket's inode."""

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
    """Checks that the card has no program that asks for a name and password, opens a way in, or runs beside Tallycam without
    being needed; and no working password."""
    password = board.run("cut -d: -f2 /etc/shadow").text.split()
    names = " ".join(sorted(LOGIN | SERVERS | DAEMONS))
    found = board.run(f"for name in {names}; do command -v $name; done; true").text.split()
    # Links may be missing where busybox has the program.
    built = set(board.run("busybox --list").text.split()) & (LOGIN | SERVERS | DAEMONS)
    print(f"on the card: {found}, in busybox: {sorted(built)}")
    return password == ["*"] and not found and not built
