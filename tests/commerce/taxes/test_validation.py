"""What is remembered of VAT numbers, and for how long."""

from datetime import UTC, datetime

import pytest

from commerce.redis import client
from commerce.taxes.validation import UNAVAILABLE, Validation, validate
from commerce.taxes.vat import VatNumber
from tests.vies import INVALID

NUMBER = VatNumber("DE", "136695976")
NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
LATER = datetime(2026, 11, 21, 11, 0, tzinfo=UTC)
VALIDATED_AT = "2026-11-21T10:00:00Z"


def test_valid_number_is_remembered_for_a_day(vies):
    first = validate(NUMBER, now=NOW)
    second = validate(NUMBER, now=LATER)

    assert first == Validation(status="valid", name="Hut & Söhne GmbH", validated_at=VALIDATED_AT)
    assert second == first
    assert len(vies.questions) == 1
    assert 86_390 <= client().ttl("vat:DE136695976") <= 86_400


def test_invalid_number_is_remembered_for_an_hour(vies):
    vies.stands_for[NUMBER.number] = INVALID

    first = validate(NUMBER, now=NOW)
    second = validate(NUMBER, now=LATER)

    assert first == second == Validation(status="invalid", validated_at=VALIDATED_AT)
    assert len(vies.questions) == 1
    assert 3_590 <= client().ttl("vat:DE136695976") <= 3_600


def test_unavailability_is_not_remembered(vies):
    vies.stands_for[NUMBER.number] = "301"
    first = validate(NUMBER, now=NOW)
    vies.stands_for.clear()

    second = validate(NUMBER, now=NOW)

    assert first == UNAVAILABLE
    assert second.status == "valid"


def test_numbers_are_remembered_apart(vies):
    vies.stands_for[NUMBER.number] = INVALID

    statuses = [validate(number, now=NOW).status for number in (NUMBER, VatNumber("AT", "U57194903"))]

    assert statuses == ["invalid", "valid"]


@pytest.fixture
def _redis_is_down(settings):
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    client.cache_clear()
    yield
    client.cache_clear()


@pytest.mark.usefixtures("_redis_is_down")
def test_without_redis_vies_is_asked_each_time(vies):
    statuses = [validate(NUMBER, now=NOW).status for _ in range(2)]

    assert statuses == ["valid", "valid"]
    assert len(vies.questions) == 2
