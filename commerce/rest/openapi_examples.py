"""Puts recorded requests and answers into the OpenAPI document. The tests in tests/examples record them."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import orjson
from django.conf import settings

Schema = dict[str, Any]

FOLDER = settings.BASE_DIR / "docs" / "examples"
_JSON = "application/json"


@cache
def load_examples() -> dict[str, Any]:
    """The recorded examples, by the ids of operations and the types of events."""
    return {
        name: found
        for path in sorted(FOLDER.glob("*.json"))
        for name, found in orjson.loads(path.read_bytes()).items()
    }


def add_examples(operations: Iterable[Schema]) -> None:
    for operation in operations:
        found = load_examples().get(operation["operationId"], {})
        for parameter in operation["parameters"]:
            text = found.get("parameters", {}).get(parameter.get("name"))
            if text is not None:
                parameter["example"] = _read(text, parameter["schema"])
        if "request" in found:
            operation["requestBody"]["content"][_JSON]["example"] = found["request"]
        if "answer" in found:
            operation["responses"][str(found["status"])]["content"][_JSON]["example"] = found["answer"]


def _read(text: str, schema: Schema) -> object:
    """The value of a parameter, which is text in an address."""
    if schema.get("type") == "integer":
        return int(text)
    return text == "true" if schema.get("type") == "boolean" else text
