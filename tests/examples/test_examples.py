"""The examples of the API document are recorded from requests to the application, so they can't be wrong."""

import os

import orjson

from commerce.events.types import EventType
from tests.examples.recording import FOLDER
from tests.openapi import document


def test_recorded_examples_are_current(recorded):
    files = recorded.make_files()

    # `make examples` rewrites them.
    if "RECORD_EXAMPLES" in os.environ:
        for path in FOLDER.glob("*.json"):
            path.unlink()
        for path, content in files.items():
            path.write_bytes(content)
    assert {path.name for path in FOLDER.glob("*.json")} == {path.name for path in files}
    for path, content in files.items():
        assert orjson.loads(path.read_bytes()) == orjson.loads(content), path.name


def test_operation_and_event_has_an_example():
    recorded = {name for path in FOLDER.glob("*.json") for name in orjson.loads(path.read_bytes())}
    operations = {
        operation["operationId"] for path in document()["paths"].values() for operation in path.values()
    }

    assert recorded == operations | set(EventType.values)
