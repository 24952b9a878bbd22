"""A live stream that reads commands from its standard input."""

import subprocess

from processes import Children, Process
from tallycam import events, start_publisher, wait_for_event


def start(children: Children, url: str, **options) -> Process:
    children.priority = -5
    options = {"quality": "Medium3", "dimension": "320x240", "commands": True, **options}
    publisher = start_publisher(children, url, stdin=subprocess.PIPE, **options)
    wait_for_event(publisher, "publishing")
    return publisher


def send(publisher: Process, *lines: str) -> None:
    publisher.child.stdin.write("".join(f"{line}\n" for line in lines).encode())
    publisher.child.stdin.flush()


def wait_for(publisher: Process, name: str, count: int) -> list[dict]:
    """All events of this name, once there are this many."""
    def found():
        return [event for event in events(publisher) if event["name"] == name]

    publisher.wait_until(lambda: len(found()) >= count, f"{count} of event '{name}'")
    return found()
