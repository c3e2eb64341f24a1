"""Requests of a hostile or careless client: each is a valid request of some route with a few things wrong."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any
from urllib.parse import quote

import orjson
from rest_framework import serializers

from tests.fuzz.wire import Request
from tests.fuzz.wrongs import SPOILS, WRONGS
from tests.rest.bodies import (
    BAD_VALUES,
    NUMBERS,
    TEXTS,
    field_paths,
    query_names,
    sample,
    serializer_of,
    with_value,
)
from tests.rest.routes import Route, World, routes

OTHER_PATHS = (
    "/webhooks/provider",
    "/webhooks/stripe/{account}",
    "/test-card/{token}/succeed",
    "/openapi.json",
    "/docs/",
    "/healthz",
    "/readyz",
    "/backoffice/login/",
    "/backoffice/orders/order/",
    "/demo/",
    "/admin/2025-01/{handle}/orders.json",
    "/",
)
# Path suffixes and segments that are unknown or invalid.
ODD_SEGMENTS = (
    "0", "-1", "9223372036854775807", "9223372036854775808", "1e3", "%00", "%2F", "%2e%2e", "..", "%ff%fe", "%F0%9F%A6%84",
    "a" * 300, "'", "%27%20OR%201%3D1", "null", "undefined", "%D9%A1", "1.json", ";", "{id}", "%",
)  # fmt: skip


@dataclass(frozen=True)
class Client:
    """A key's headers, and the world that it may see, if any."""

    headers: tuple[tuple[bytes, bytes], ...]
    world: World | None
    surface: str


class Hostile:
    """Generates requests from a seed: the same seed, worlds and number give the same requests."""

    def __init__(self, worlds: list[World], clients: list[Client]) -> None:
        self._worlds = worlds
        self._clients = clients
        self._routes = [(route, serializer_of(route) if route.takes_body else None) for route in routes()]
        self._queries = {str(route): list(query_names(route)) for route, _ in self._routes}

    def request(self, seed: str) -> tuple[Client, Request]:
        # Not for secrets: the same seed must give the same requests.
        random = Random(seed)
        route, serializer = random.choice(self._routes)
        # Mostly a valid key, because requests that fail authentication test little else.
        fitting = [client for client in self._clients if client.surface == route.surface]
        client = random.choice(fitting if random.random() < 0.9 else self._clients)
        if random.random() < 0.06:
            request = self._elsewhere(random)
        else:
            request = self._to_a_route(random, route, serializer, client)
        headers = [(b"Host", b"127.0.0.1"), *client.headers, *request.headers]
        request = replace(request, headers=tuple(headers))
        for _ in range(random.choice((0, 0, 0, 1, 1, 2))):
            request = random.choice(WRONGS)(random, request)
        return client, _sparing_the_world(route, request)

    def _to_a_route(
        self, random: Random, route: Route, serializer: serializers.Serializer | None, client: Client
    ) -> Request:
        world = client.world if client.world and random.random() < 0.85 else random.choice(self._worlds)
        path = self._path(random, route, world)
        if random.random() < 0.3:
            path += "?" + self._query(random, route, world)
        body = b""
        if route.takes_body:
            body = self._body(random, serializer, world)
        headers = [(b"Content-Type", b"application/json")]
        if route.method == "POST" and random.random() < 0.5:
            headers.append((b"Idempotency-Key", b"fuzz-%d" % random.getrandbits(64)))
        target = path.encode("ascii", "ignore")
        return Request(route.method.encode(), target, tuple(headers), body)

    def _path(self, random: Random, route: Route, world: World) -> str:
        values = {place: world.value(*place) for place in route.placeholders}
        handle = world.shop.handle
        if _ends_the_world(route):
            # Shops and keys must survive, so these use ids that belong to nobody.
            values = {place: random.choice(ODD_SEGMENTS) for place in values}
        elif values and random.random() < 0.2:
            place = random.choice(list(values))
            other = random.choice(self._worlds)
            values[place] = random.choice([*ODD_SEGMENTS, other.value(*place)])
        if random.random() < 0.03:
            handle = random.choice([*ODD_SEGMENTS, random.choice(self._worlds).shop.handle])
        return route.path(handle, {place: quote(str(v), safe="%;{}'.") for place, v in values.items()})

    def _query(self, random: Random, route: Route, world: World) -> str:
        names = [*self._queries[str(route)], "limit", "cursor_id", "account_id", "format", "\x00", "x" * 50]
        values = [*TEXTS, *map(str, NUMBERS), "true", "2026-01-01T00:00:00Z", str(world.row_id("order_id"))]
        pairs = [
            (random.choice(names), random.choice(values)[:2_000])
            for _ in range(random.choice((1, 1, 2, 5, 300)))
        ]
        text = "&".join(f"{quote(name)}={quote(value)}" for name, value in pairs)[:6_000]
        return random.choice(
            (text, text, text, "%", "%ff=%fe", "limit=%00", "a=1&" * 1_000, "limit[]=1", "=&=&&")
        )

    def _body(self, random: Random, serializer: serializers.Serializer | None, world: World) -> bytes:
        body: Any = sample(serializer, world) if serializer is not None else {}
        paths = [path for path, _ in field_paths(serializer)] if serializer is not None else []
        for _ in range(random.choice((0, 1, 1, 2, 3))):
            if paths:
                path = random.choice(paths)
                value = random.choice([*BAD_VALUES, *_ids_of(random.choice(self._worlds))])
                body = _without_error(with_value, body, path, value)
        if body and isinstance(body, dict) and random.random() < 0.1:
            body.pop(random.choice(list(body)))
        if isinstance(body, dict) and random.random() < 0.1:
            body["unknown \ud7ff"] = random.choice(BAD_VALUES)
        data = _dumps(body)
        return random.choice(SPOILS)(random, data) if random.random() < 0.2 else data

    def _elsewhere(self, random: Random) -> Request:
        world = random.choice(self._worlds)
        path = random.choice(OTHER_PATHS).format(
            account=world.shop.id, token=world.value("carts", "token"), handle=world.shop.handle
        )
        event = {"type": "email.delivered", "data": {"email_id": "x", "created_at": "2026-01-01T00:00:00Z"}}
        body = random.choice(SPOILS)(random, _dumps(event)) if random.random() < 0.5 else _dumps(event)
        method = random.choice((b"GET", b"POST"))
        return Request(
            method,
            path.encode(),
            ((b"Content-Type", b"application/json"),),
            body if method == b"POST" else b"",
        )


def _sparing_the_world(route: Route, request: Request) -> Request:
    """Use foreign ids if another method turned it into a request that archives a shop or revokes a key."""
    names_one = "accounts/" in route.template or "api_keys/" in route.template
    if names_one and request.method == b"DELETE" and route.method != "DELETE":
        return replace(request, method=b"GET")
    return request


def _ends_the_world(route: Route) -> bool:
    is_account = route.method in ("PUT", "DELETE") and "accounts/" in route.template
    return is_account or (route.method in ("POST", "DELETE") and "api_keys/" in route.template)


def _ids_of(world: World) -> list[int]:
    return [row.pk for row in list(world.rows.values())[:10]]


def _dumps(value: Any) -> bytes:
    """Serialize JSON, including numbers that orjson can't write."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value).encode()


def _without_error(function: Callable[..., Any], body: Any, *arguments: Any) -> Any:
    """Return the body unchanged if an earlier mistake has removed the place of this one."""
    try:
        return function(body, *arguments)
    except (KeyError, IndexError, TypeError, ValueError):
        return body
