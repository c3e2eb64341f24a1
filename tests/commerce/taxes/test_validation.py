"""What is cached about VAT numbers, and for how long."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from commerce.errors import RateLimited
from commerce.redis import client
from commerce.taxes.validation import UNAVAILABLE, Asker, Validation, validate
from commerce.taxes.vat import VatNumber
from commerce.waiting import Call, waiting_call
from tests.vies import INVALID

NUMBER = VatNumber("DE", "136695976")
NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
LATER = datetime(2026, 11, 21, 11, 0, tzinfo=UTC)
ASKER = Asker(account_id=1, checkout_token="token", address="192.0.2.1")


def test_valid_number_is_remembered_for_a_day(vies):
    first = validate(NUMBER, asker=ASKER, now=NOW)
    second = validate(NUMBER, asker=ASKER, now=LATER)

    assert first == Validation(status="valid", name="Hut & Söhne GmbH", validated_at=NOW)
    assert second == first
    assert len(vies.questions) == 1
    assert 86_390 <= client().ttl("vat:DE136695976") <= 86_400


def test_invalid_number_is_remembered_for_an_hour(vies):
    vies.stands_for[NUMBER.number] = INVALID

    first = validate(NUMBER, asker=ASKER, now=NOW)
    second = validate(NUMBER, asker=ASKER, now=LATER)

    assert first == second == Validation(status="invalid", validated_at=NOW)
    assert len(vies.questions) == 1
    assert 3_590 <= client().ttl("vat:DE136695976") <= 3_600


def test_unavailability_is_not_remembered(vies):
    vies.stands_for[NUMBER.number] = "301"
    first = validate(NUMBER, asker=ASKER, now=NOW)
    vies.stands_for.clear()

    second = validate(NUMBER, asker=ASKER, now=NOW)

    assert first == UNAVAILABLE
    assert second.status == "valid"


def test_numbers_are_remembered_apart(vies):
    vies.stands_for[NUMBER.number] = INVALID

    statuses = [
        validate(number, asker=ASKER, now=NOW).status for number in (NUMBER, VatNumber("AT", "U57194903"))
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
    statuses = [validate(NUMBER, asker=ASKER, now=NOW).status for _ in range(2)]

    assert statuses == ["valid", "valid"]
    assert len(vies.questions) == 2


def test_number_goes_unchecked_while_another_of_the_account_is_checked(vies):
    with waiting_call(Call.VAT, ASKER.account_id, within_s=5):
        mine = validate(NUMBER, asker=ASKER, now=NOW)
        others = validate(NUMBER, asker=replace(ASKER, account_id=2), now=NOW)

    assert (mine.status, others.status, len(vies.questions)) == ("unavailable", "valid", 1)


NUMBERS = [VatNumber("DE", str(number)) for number in range(100_000_000, 100_000_005)]


def check_numbers(asker, *numbers):
    """Check every number; return `RateLimited` or the status for each."""
    answers = []
    for number in numbers:
        try:
            answers.append(validate(number, asker=asker, now=NOW).status)
        except RateLimited:
            answers.append("limited")
    return answers


def test_questions_about_one_checkout_are_limited(vies, settings):
    settings.VAT_CHECKS_PER_CHECKOUT = 2
    elsewhere = replace(ASKER, address="192.0.2.2")
    another = replace(ASKER, checkout_token="another")

    assert check_numbers(ASKER, *NUMBERS[:3]) == ["valid", "valid", "limited"]
    assert check_numbers(elsewhere, NUMBERS[2]) == ["limited"]
    # Cached answers need no request, and another checkout is another buyer.
    assert check_numbers(ASKER, NUMBERS[0]) == ["valid"]
    assert check_numbers(another, NUMBERS[2]) == ["valid"]
    assert len(vies.questions) == 3


def test_questions_from_one_address_are_limited_over_all_checkouts_of_a_shop(vies, settings):
    settings.VAT_CHECKS_PER_ADDRESS = 2
    checkouts = [replace(ASKER, checkout_token=f"token-{index}") for index in range(3)]

    answers = [check_numbers(asker, number) for asker, number in zip(checkouts, NUMBERS, strict=False)]

    assert answers == [["valid"], ["valid"], ["limited"]]
    assert check_numbers(replace(checkouts[2], address="192.0.2.2"), NUMBERS[2]) == ["valid"]
    assert check_numbers(replace(checkouts[2], account_id=2), NUMBERS[3]) == ["valid"]
    assert len(vies.questions) == 4


def test_question_without_a_place_is_not_counted(vies, settings):
    settings.VAT_CHECKS_PER_CHECKOUT = 1
    with waiting_call(Call.VAT, ASKER.account_id, within_s=5):
        assert check_numbers(ASKER, NUMBERS[0], NUMBERS[0]) == ["unavailable", "unavailable"]

    assert check_numbers(ASKER, NUMBERS[0]) == ["valid"]
