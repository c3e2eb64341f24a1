"""Bad input, generated for every route with a body: a documented refusal, never a crash or a silent guess."""

import orjson
import pytest
from rest_framework import serializers

from commerce.rest import fields
from tests.rest.bodies import BAD_VALUES, field_paths, sample, serializer_of, with_value
from tests.rest.routes import rolling_back, routes

BODY_ROUTES = [route for route in routes() if route.takes_body]
DESCRIBED_ROUTES = [(route, serializer) for route in BODY_ROUTES if (serializer := serializer_of(route))]

ACCEPTED = {200, 201}
REFUSED = {400, 403, 404, 409, 422}

NUMBERS_THAT_ARE_NONE = [
    True,
    False,
    1.5,
    2.0,
    "1.0",
    "one",
    "",
    "\u0661",
    " 1",
    [],
    [1],
    {},
    2**53,
    -(2**53),
    2**63,
    2**70,
]
TEXTS_THAT_ARE_NONE = [True, 0, 1, 1.5, [], ["text"], {}, "\x00", "a\x00b"]
REFUSED_BY_TYPE = {
    fields.IntegerField: NUMBERS_THAT_ARE_NONE,
    fields.TextField: TEXTS_THAT_ARE_NONE,
    fields.EmailField: [*TEXTS_THAT_ARE_NONE, "nobody", "a@b@c", "x" * 300 + "@example.com"],
    fields.BooleanField: [0, 1, "true", "yes", "on", "", [], {}],
    fields.DateTimeField: [True, 0, 1.5, "", "today", "2026-11-20", "2026-11-20T10:00:00", "\x00", [], {}],
    fields.ObjectField: [True, 0, "", "{}", [], [{}], {"a": "\x00"}, {"\x00": 1}, {"a": 2**63}, {"a": 1e300}],
    serializers.ChoiceField: [True, 0, "", "nope", "\x00", [], {}],
    serializers.ListField: [True, 0, "", "text", {}, {"0": 1}],
    serializers.Serializer: [True, 0, "", "text", [], [{}]],
    serializers.ListSerializer: [True, 0, "", "text", {}, [[]], [0]],
}


def ask(world, route, body, **headers):
    client = world.shop.workspace if route.surface == "admin" else world.shop.storefront
    headers = {"idempotency_key": "key"} | headers if route.method == "POST" else headers
    with rolling_back():
        return client.send(route.method, world.path(route), body, **headers)


def codes(world, body, **headers):
    """Return how each route refuses a body that is invalid everywhere."""
    responses = {str(route): ask(world, route, body, **headers) for route in BODY_ROUTES}
    return {(response.status_code, response.json()["code"]) for response in responses.values()}


def is_sound(response):
    """Whether the request succeeded, or was refused by a complete problem document."""
    if response.status_code in ACCEPTED:
        return True
    document = response.json()
    names = {"type", "title", "status", "detail", "code", "request_id"}
    return response.status_code in REFUSED and names <= document.keys() and document["request_id"]


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"a": }',
        b"[]",
        b'[{"a": 1}]',
        b'"text"',
        b"1",
        b"null",
        b"true",
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": 1e400}',
        b"{'a': 1}",
        b'{"a": "\\ud800"}',
        b'{"a": "\xff"}',
        b"\xff\xfe{\x00}\x00",
        b"\x00",
        b"[" * 100_000,
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
    ],
    ids=lambda body: str(body[:20]),
)
def test_body_that_is_no_json_object_is_malformed(world, body):
    assert codes(world, body) == {(400, "malformed_request")}


def test_body_past_one_mebibyte_is_too_large(world):
    assert codes(world, b'{"a": "' + b"x" * 2 * 1024 * 1024 + b'"}') == {(413, "body_too_large")}


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"],
)
def test_body_of_another_media_type_is_unsupported(world, content_type):
    assert codes(world, b'{"a": 1}', content_type=content_type) == {(415, "unsupported_media_type")}


@pytest.mark.parametrize("body", [b"", b" ", b"{}", b'{"unknown": 1}', b'\n{"unknown": [{"deep": null}]}\n'])
def test_body_that_says_nothing_is_no_crash(world, body):
    unsound = [str(route) for route in BODY_ROUTES if not is_sound(ask(world, route, body))]

    assert unsound == []


@pytest.mark.parametrize(
    "value", [None, [], {}, "\x00", 2**63, "x" * 10_000], ids=lambda value: repr(value)[:12]
)
def test_body_with_the_same_bad_value_everywhere_is_refused(world, value):
    unsound = []
    for route, serializer in DESCRIBED_ROUTES:
        response = ask(world, route, dict.fromkeys(serializer.fields, value))
        if not is_sound(response):
            unsound.append((str(route), response.content))

    assert unsound == []


def leaves():
    for route, serializer in DESCRIBED_ROUTES:
        for path, field in field_paths(serializer):
            yield route, serializer, path, field


def test_fields_are_of_the_strict_kinds():
    lenient_kinds = {
        serializers.CharField: fields.TextField | fields.EmailField,
        serializers.BooleanField: fields.BooleanField,
        serializers.DateTimeField: fields.DateTimeField,
        serializers.IntegerField: fields.IntegerField,
        serializers.FloatField: fields.IntegerField,
        serializers.JSONField: fields.ObjectField,
    }

    lenient = [
        (str(route), path)
        for route, _, path, field in leaves()
        for kind, strict in lenient_kinds.items()
        if isinstance(field, kind) and not isinstance(field, strict)
    ]

    assert lenient == []


def test_texts_are_not_endless():
    endless = [
        (str(route), path)
        for route, _, path, field in leaves()
        if isinstance(field, serializers.CharField) and accepts(field, "x" * 100_001)
    ]

    assert endless == []


def test_lists_are_not_endless():
    endless = [
        (str(route), path)
        for route, _, path, field in leaves()
        if isinstance(field, serializers.ListField | serializers.ListSerializer) and field.max_length is None
    ]

    assert endless == []


def accepts(field, value):
    try:
        field.run_validation(value)
    except serializers.ValidationError:
        return False
    return True


def test_values_of_the_wrong_type_are_refused_by_their_field():
    lenient = [
        (str(route), path, value)
        for route, _, path, field in leaves()
        for kind, values in REFUSED_BY_TYPE.items()
        if isinstance(field, kind)
        for value in values
        if accepts(field, value) and not may_stand_for(field, value)
    ]

    assert lenient == []


def may_stand_for(field, value):
    """Whether a field deliberately accepts the value: an empty text where blank is allowed, an empty list or object."""
    return (value == "" and getattr(field, "allow_blank", False)) or (
        value == [] and getattr(field, "allow_empty", False)
    )


def test_values_at_the_edge_are_done_or_refused(world):
    unsound = []
    for route, serializer in DESCRIBED_ROUTES:
        for body in edge_bodies(serializer, sample(serializer, world)):
            response = ask(world, route, body)
            if not is_sound(response):
                unsound.append((str(route), orjson.dumps(body)[:500], response.content[:300]))

    assert unsound == []


def edge_bodies(serializer, body):
    """Yield bodies with bad values that fields accept deliberately, until each was in one."""
    taken = {
        path: [value for value in BAD_VALUES if accepts(field, value)]
        for path, field in field_paths(serializer)
        if not isinstance(field, serializers.BaseSerializer)
    }
    for round_number in range(max(map(len, taken.values()), default=0)):
        edged = body
        # List elements first, because replacing the list itself removes them.
        for path, values in reversed(taken.items()):
            if round_number < len(values):
                edged = with_value(edged, path, values[round_number])
        yield edged
