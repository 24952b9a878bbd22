"""Relays a TCP connection at a constant rate, and accepts from its client everything that the kernel's buffers hold.

Usage: buffering_proxy.py KBITS_PER_SECOND PORT_OF_THE_SERVER [BYTES_OF_THE_BUFFER]

Prints the port it listens on. Data from the server is passed back at once. If it lacks processor time, it prints on standard
error how many seconds it was late. It does not catch up.
"""

import socket
import sys
import threading
import time

# Bytes per read. A smaller amount would not move the kernel's window any sooner.
PIECE = 4096
# A longer delay is not caught up.
LATEST = 0.05


def pass_on(source: socket.socket, target: socket.socket, bytes_per_second: float | None) -> None:
    due = time.monotonic()
    while piece := source.recv(PIECE if bytes_per_second else 65536):
        target.sendall(piece)
        if bytes_per_second:
            due = max(due, time.monotonic() - LATEST) + len(piece) / bytes_per_second
            if (pause := due - time.monotonic()) > 0:
                time.sleep(pause)
                if (late := time.monotonic() - due) > LATEST:
                    print(f"{late:.3f}", file=sys.stderr, flush=True)
    target.shutdown(socket.SHUT_WR)


def main(kilobits: float, server: int, buffer: int | None = None) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    if buffer:
        # Accepted connections have the listener's.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    print(listener.getsockname()[1], flush=True)
    while True:
        client, _ = listener.accept()
        target = socket.create_connection(("127.0.0.1", server))
        for words in ((client, target, kilobits * 125), (target, client, None)):
            threading.Thread(target=pass_on, args=words, daemon=True).start()


if __name__ == "__main__":
    main(float(sys.argv[1]), *map(int, sys.argv[2:]))
