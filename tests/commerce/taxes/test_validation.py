"""What is remembered of VAT numbers, and for how long."""

from contextlib import ExitStack
from datetime import UTC, datetime

import pytest

from commerce.redis import client
from commerce.rest.waiting import waiting_call
from commerce.taxes.validation import UNAVAILABLE, Validation, validate
from commerce.taxes.vat import VatNumber
from tests.vies import INVALID

NUMBER = VatNumber("DE", "136695976")
NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
LATER = datetime(2026, 11, 21, 11, 0, tzinfo=UTC)
VALIDATED_AT = "2026-11-21T10:00:00Z"


def test_valid_number_is_remembered_for_a_day(vies):
    first = validate(NUMBER, account_id=1, now=NOW)
    second = validate(NUMBER, account_id=1, now=LATER)

    assert first == Validation(status="valid", name="Hut & Söhne GmbH", validated_at=VALIDATED_AT)
    assert second == first
    assert len(vies.questions) == 1
    assert 86_390 <= client().ttl("vat:DE136695976") <= 86_400


def test_invalid_number_is_remembered_for_an_hour(vies):
    vies.stands_for[NUMBER.number] = INVALID

    first = validate(NUMBER, account_id=1, now=NOW)
    second = validate(NUMBER, account_id=1, now=LATER)

    assert first == second == Validation(status="invalid", validated_at=VALIDATED_AT)
    assert len(vies.questions) == 1
    assert 3_590 <= client().ttl("vat:DE136695976") <= 3_600


def test_unavailability_is_not_remembered(vies):
    vies.stands_for[NUMBER.number] = "301"
    first = validate(NUMBER, account_id=1, now=NOW)
    vies.stands_for.clear()

    second = validate(NUMBER, account_id=1, now=NOW)

    assert first == UNAVAILABLE
    assert second.status == "valid"


def test_numbers_are_remembered_apart(vies):
    vies.stands_for[NUMBER.number] = INVALID

    statuses = [
        validate(number, account_id=1, now=NOW).status for number in (NUMBER, VatNumber("AT", "U57194903"))
    ]

    assert statuses == ["invalid", "valid"]


@pytest.fixture
def _redis_is_down(settings):
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    client.cache_clear()
    yield
    client.cache_clear()


@pytest.mark.usefixtures("_redis_is_down")
def test_without_redis_vies_is_asked_each_time(vies):
    statuses = [validate(NUMBER, account_id=1, now=NOW).status for _ in range(2)]

    assert statuses == ["valid", "valid"]
    assert len(vies.questions) == 2


def test_numbers_beyond_a_few_at_once_go_unchecked(vies):
    """Two of one account, and one more of another."""
    with ExitStack() as waiting:
        for _ in range(2):
            waiting.enter_context(waiting_call(1, within_s=5))

        mine = validate(NUMBER, account_id=1, now=NOW)
        others = validate(NUMBER, account_id=2, now=NOW)

    assert (mine.status, others.status, len(vies.questions)) == ("unavailable", "valid", 1)
