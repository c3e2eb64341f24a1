"""Check every response of the test suite against the committed API document."""

import copy
import re
from functools import cache
from typing import Any

import orjson
from django.conf import settings
from jsonschema import Draft202012Validator

from commerce.rest.versioning import document_for
from commerce.versions import ApiVersion, current_version, version_of_path

PATH = settings.BASE_DIR / "docs" / "openapi.json"


@cache
def document() -> dict[str, Any]:
    return orjson.loads(PATH.read_bytes())


@cache
def _document_of(version: ApiVersion) -> dict[str, Any]:
    return document_for(version, document())


def assert_documented(method: str, path: str, status: int, body: bytes) -> None:
    """Assert that the document describes the response, with exactly its fields."""
    operation = operation_of(method, path)
    if operation is None:
        return
    response = operation["responses"].get(str(status))
    assert response is not None, f"{method} {path} answers {status}, which isn't documented"
    response = _resolve(response)
    content: dict[str, Any] = next(iter(response.get("content", {}).values()), {})
    schema = content.get("schema")
    if schema is None:
        assert body == b"", f"{method} {path} answers {status} with a body"
        return
    if status >= 400:
        code = orjson.loads(body)["code"]
        assert code in codes_of(response), f"{method} {path} answers `{code}`, which isn't documented"
    validator = _validator(version_of_path(path), orjson.dumps(schema))
    errors = list(validator.iter_errors(orjson.loads(body)))
    assert not errors, (
        f"{method} {path} answers {status} otherwise than documented: {errors[0].json_path}: {errors[0].message}"
    )


def codes_of(response: dict[str, Any]) -> set[str]:
    """The codes of a documented response, which are the names of its examples, perhaps with an app's name."""
    content = next(iter(_resolve(response)["content"].values()))
    return {name.partition("-")[0] for name in content["examples"]}


def _resolve(node: dict[str, Any]) -> dict[str, Any]:
    """The part of the document that a reference refers to, or the part itself."""
    found: Any = node
    if "$ref" in node:
        found = document()
        for name in node["$ref"].removeprefix("#/").split("/"):
            found = found[name]
    return found


@cache
def _routes(version: ApiVersion) -> list[tuple[re.Pattern[str], dict[str, Any]]]:
    paths = _document_of(version)["paths"]
    # The most specific first, because an address may fit several paths, such as `accounts/{id}.json`.
    ordered = sorted(paths, key=lambda template: template.count("{"))
    return [
        (
            re.compile(
                re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", re.escape(t).replace(r"\{", "{").replace(r"\}", "}"))
            ),
            paths[t],
        )
        for t in ordered
    ]


def operation_of(method: str, path: str) -> dict[str, Any] | None:
    """Return the operation that the document describes for a request; None if there is none."""
    return _find_route(path)[1].get(method.lower())


def read_path(path: str) -> dict[str, str]:
    """Return the parameters in a documented path."""
    return _find_route(path)[0]


def _find_route(path: str) -> tuple[dict[str, str], dict[str, Any]]:
    for pattern, operations in _routes(version_of_path(path)):
        if found := pattern.fullmatch(path):
            return found.groupdict(), operations
    return {}, {}


def find_errors(schema: dict[str, Any], value: object) -> list[str]:
    """What is wrong with a value by a schema of the current document."""
    errors = _validator(current_version(), orjson.dumps(schema)).iter_errors(value)
    return [f"{error.json_path}: {error.message}" for error in errors]


@cache
def _validator(version: ApiVersion, schema: bytes) -> Draft202012Validator:
    return Draft202012Validator(orjson.loads(schema) | {"components": _closed_components(version)})


@cache
def _closed_components(version: ApiVersion) -> dict[str, Any]:
    """Return the components without additional properties, except for problem documents, which allow extra members."""
    components = copy.deepcopy(_document_of(version)["components"])
    for name, schema in components["schemas"].items():
        if name != "Problem" and "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return components
