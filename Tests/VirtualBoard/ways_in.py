"""Ways into the camera from outside: sockets that somebody may send to, and programs that let somebody in."""

import re

from board import Board

LOGIN = {"login", "su", "sulogin", "sshd", "dropbear", "telnetd"}
# Busybox has them, and nobody starts them.
ASLEEP = {"getty", "ftpd", "tftpd", "httpd", "inetd"}
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
    names = dict(re.findall(r"/proc/(\d+)/comm:(.*)", board.run("grep -H . /proc/[0-9]*/comm 2>/dev/null || true").text))
    owners, pid = {}, ""
    for line in board.run("ls -l /proc/[0-9]*/fd 2>/dev/null || true").text.splitlines():
        if header := re.match(r"/proc/(\d+)/fd:", line):
            pid = header[1]
        elif socket := re.search(r"socket:\[(\d+)\]", line):
            owners[socket[1]] = names.get(pid, pid)
    return owners


def has_no_login(board: Board) -> bool:
    """No program on the card that asks for a name and password, none running that opens a door, and no password that
    would do."""
    password = board.run("cut -d: -f2 /etc/shadow").text.split()
    found = board.run("for name in " + " ".join(sorted(LOGIN)) + "; do command -v $name; done; true").text.split()
    running = set(board.run("cat /proc/[0-9]*/comm 2>/dev/null || true").text.split())
    return password == ["*"] and not found and not running & (LOGIN | ASLEEP)
