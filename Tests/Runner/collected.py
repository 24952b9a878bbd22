"""A pytest plugin: writes the collected tests and their markers about how to run them, as JSON, to the file that --plan names.
`jobs.py` reads it."""

import json
from pathlib import Path


def pytest_addoption(parser):
    parser.addoption("--plan", type=Path, help="the file for what was collected")


def pytest_collection_finish(session):
    path = session.config.getoption("--plan")
    if path is None:
        return
    tests = [
        {
            "file": str(item.path),
            # The closest marker counts: the test's own before its file's.
            "takes": {name: value for mark in reversed([*item.iter_markers("takes")]) for name, value in mark.kwargs.items()},
            "needs_board_program": item.get_closest_marker("board_program") is not None,
            "paced": item.get_closest_marker("paced") is not None,
        }
        for item in session.items
    ]
    path.write_text(json.dumps(tests))

