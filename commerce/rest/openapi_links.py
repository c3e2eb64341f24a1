"""Links between the operations of the OpenAPI document: from an answer to the requests that may follow."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Schema = dict[str, Any]

# Where `SurfaceSchema` keeps an action's own links until all operations are known.
MARK = "x-leads-to"
# The field of a resource that fills a parameter of its address, if it isn't the id.
_FIELDS = {"token": "token", "id_or_handle": "handle"}


@dataclass(frozen=True)
class Link:
    """Leads to an operation by its id. Parameters and fields of the body are taken from the answer, such as `cart/token`.

    Parameters of the path that both operations have are passed on.
    """

    operation: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, str] = field(default_factory=dict)


def add_links(paths: Mapping[str, Mapping[str, Schema]], schemas: Mapping[str, Schema]) -> None:
    """Add the links that actions declare, and those from creating a resource to the other operations on it."""
    addresses = {
        operation["operationId"]: path for path, methods in paths.items() for operation in methods.values()
    }
    for path, methods in paths.items():
        for method, operation in methods.items():
            links = list(operation.pop(MARK, ()))
            if method == "post":
                links += _find_uses(path, _name_resource(operation, schemas), addresses)
            if links:
                status = next(iter(operation["responses"]))
                operation["responses"][status]["links"] = {
                    link.operation: _describe(link, path, addresses[link.operation]) for link in links
                }


def _name_resource(operation: Schema, schemas: Mapping[str, Schema]) -> str:
    """The name under which an operation answers with a resource, such as `cart`; "" if it has no answer."""
    response = next(iter(operation["responses"].values()))
    answer = response.get("content", {}).get("application/json", {}).get("schema", {})
    schema = schemas.get(answer.get("$ref", "").rpartition("/")[2], {})
    return next(iter(schema.get("properties", {})), "")


def _find_uses(path: str, name: str, addresses: Mapping[str, str]) -> Iterable[Link]:
    """For `POST carts.json`, yield a link to each operation below `carts/{token}` that needs nothing else."""
    below = path.removesuffix(".json") + "/{"
    for target, address in addresses.items():
        if name and address.startswith(below):
            own = set(_list_parameters(address)) - set(_list_parameters(path))
            parameter = own.pop() if len(own) == 1 else ""
            if parameter in _FIELDS or (parameter and name.endswith(parameter.removesuffix("_id"))):
                yield Link(target, {parameter: f"{name}/{_FIELDS.get(parameter, 'id')}"})


def _describe(link: Link, path: str, address: str) -> Schema:
    shared = [
        name
        for name in _list_parameters(address)
        if name in _list_parameters(path) and name not in link.parameters
    ]
    parameters = {name: f"$request.path.{name}" for name in shared}
    parameters |= {name: f"$response.body#/{place}" for name, place in link.parameters.items()}
    described: Schema = {"operationId": link.operation, "parameters": parameters}
    if link.body:
        described["requestBody"] = {name: f"$response.body#/{place}" for name, place in link.body.items()}
    return described


def _list_parameters(path: str) -> list[str]:
    return re.findall(r"\{(\w+)\}", path)
