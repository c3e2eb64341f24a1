"""Read refusals of the API and the database."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError
from django.http import HttpResponse


def field_errors(answer: HttpResponse) -> list[tuple[str, str]]:
    """Return `(field, code)` of each error of a 422."""
    assert answer.status_code == 422
    return [(error["field"], error["code"]) for error in answer.json()["errors"]]


def refusal(answer: HttpResponse) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def refused_constraint(write: Callable[[], Any]) -> str:
    """Return the name of the constraint that a write violates."""
    with pytest.raises(IntegrityError) as refused:
        write()
    return refused.value.__cause__.diag.constraint_name
