"""One serializer validates the requests of all threads, so it must keep nothing of them."""

from contextlib import suppress

import pytest
from django.urls import get_resolver
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from carts.api.serializers import LineInput
from commerce.errors import Refusal
from commerce.rest.shapes import Input
from commerce.rest.views import make_validator


def subclasses(kind):
    for inner in kind.__subclasses__():
        yield inner
        yield from subclasses(inner)


def state_of(field):
    """The attributes of a serializer or field, and those of the fields in it."""
    inner = dict(getattr(field, "fields", {}))
    if hasattr(field, "child"):
        inner["child"] = field.child
    own = {name: value for name, value in vars(field).items() if not isinstance(value, serializers.Field)}
    return own, {name: state_of(part) for name, part in inner.items()}


# All are loaded with the URLs of the API.
def test_inputs_keep_nothing_of_what_they_validate():
    assert get_resolver().url_patterns
    kinds = set(subclasses(Input))
    assert LineInput in kinds
    for kind in kinds:
        validator = make_validator(kind, False)
        values = [
            {},
            dict.fromkeys(validator.fields, "x"),
            {name: [{}] for name in validator.fields},
            {"more": 1},
        ]
        run_all(validator, values)
        before = state_of(validator)
        run_all(validator, values)
        assert state_of(validator) == before


def run_all(validator, values):
    for value in values:
        # Query strings have no lists, which their fields don't expect.
        with suppress(ValidationError, Refusal, TypeError):
            validator.run_validation(value)


def test_valid_values_and_errors_are_those_of_a_new_serializer():
    good = {"variant_id": "7", "quantity": 2, "custom_attributes": {"a": 1}}
    bad = {"variant_id": 0, "quantity": True}
    validator = make_validator(LineInput, False)

    for _ in range(2):
        assert validator.run_validation(good) == {
            "variant_id": 7,
            "quantity": 2,
            "custom_attributes": {"a": 1},
        }
        with pytest.raises(ValidationError) as refused:
            validator.run_validation(bad)
        fresh = LineInput(data=bad)
        assert not fresh.is_valid()
        assert refused.value.detail == fresh.errors


def test_defaults_are_new_objects_each_time():
    validator = make_validator(LineInput, False)
    first, second = (validator.run_validation({"variant_id": 7, "quantity": 2}) for _ in range(2))

    assert first["custom_attributes"] == {}
    assert first["custom_attributes"] is not second["custom_attributes"]
