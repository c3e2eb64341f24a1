"""`vouchers.json` and `vouchers/{id}.json`: issuing, reading, disabling, revoking."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from commerce.events.models import Event
from commerce.outbox.models import OutboxDispatch
from discounts.models import Voucher
from discounts.vouchers.holds import hold_vouchers
from tests.discounts.vouchers.cards import (
    event_types,
    ledger,
    make_order,
    make_voucher,
    state,
)
from tests.factories import make_customer
from tests.problems import field_errors, problem

CARD = {"initial_balance_cents": 10_000, "currency": "EUR"}


def count(shop):
    with shop.scope():
        return Voucher.objects.count()


def get_voucher(shop, voucher):
    return shop.admin.get(f"vouchers/{voucher.pk}.json").json()["voucher"]


def revoke(shop, voucher, reason="Stolen"):
    return shop.admin.post(f"vouchers/{voucher.pk}/revoke.json", {"reason": reason})


def codes(answer):
    return [voucher["code"] for voucher in answer.json()["vouchers"]]


def test_voucher_is_issued_with_a_code_a_ledger_and_an_event(shop):
    order = make_order(shop)
    body = CARD | {
        "recipient_email": "Ada@example.com",
        "expires_at": "2030-01-01T01:00:00+01:00",
        "order_id": order.pk,
    }

    answer = shop.admin.post("vouchers.json", body)

    assert answer.status_code == 201
    voucher = answer.json()["voucher"]
    assert re.fullmatch(r"([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}", voucher["code"])
    assert voucher == {
        "id": voucher["id"],
        "code": voucher["code"],
        "currency": "EUR",
        "initial_balance_cents": "10000",
        "balance_cents": "10000",
        "available_cents": "10000",
        "recipient_email": "Ada@example.com",
        "status": "active",
        "expires_at": "2030-01-01T00:00:00Z",
        "order_id": str(order.pk),
        "last_redeemed_at": None,
        "disabled_at": None,
        "revoked_at": None,
        "created_at": voucher["created_at"],
        "updated_at": voucher["created_at"],
    }
    with shop.scope():
        row = Voucher.objects.get()
        assert Event.objects.get().data == {
            "voucher_id": voucher["id"],
            "currency": "EUR",
            "initial_balance_cents": "10000",
            "recipient_email": "Ada@example.com",
            "expires_at": "2030-01-01T00:00:00Z",
            "order_id": str(order.pk),
        }
        assert not OutboxDispatch.objects.exists()
    assert ledger(shop, row) == [("issue", 10_000, 10_000)]


def test_voucher_needs_no_more_than_a_balance_and_a_currency(shop):
    voucher = shop.admin.post("vouchers.json", CARD | {"recipient_email": None, "expires_at": None}).json()[
        "voucher"
    ]

    assert (voucher["recipient_email"], voucher["expires_at"], voucher["order_id"]) == (None, None, None)


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        ({"initial_balance_cents": 0}, {("initial_balance_cents", "min_value")}),
        ({"initial_balance_cents": 2**53}, {("initial_balance_cents", "max_value")}),
        ({"initial_balance_cents": 10.5}, {("initial_balance_cents", "invalid")}),
        ({"initial_balance_cents": None}, {("initial_balance_cents", "null")}),
        ({"currency": "XXX"}, {("currency", "unknown_currency")}),
        ({"recipient_email": "nobody"}, {("recipient_email", "invalid")}),
        ({"recipient_email": ""}, {("recipient_email", "blank")}),
        ({"expires_at": "2020-01-01T00:00:00Z"}, {("expires_at", "in_the_past")}),
        ({"expires_at": "2030-01-01"}, {("expires_at", "no_offset")}),
        ({"order_id": 2**52}, {("order_id", "not_found")}),
        ({"send_email": True}, {("recipient_email", "required")}),
    ],
)
def test_voucher_that_makes_no_sense_is_refused(shop, changes, errors):
    answer = shop.admin.post("vouchers.json", CARD | changes)

    assert field_errors(answer) == errors
    assert count(shop) == 0
    assert event_types(shop) == []


def test_order_of_another_account_is_unknown(shop, other_shop):
    theirs = make_order(other_shop)

    answer = shop.admin.post("vouchers.json", CARD | {"order_id": theirs.pk})

    assert field_errors(answer) == {("order_id", "not_found")}
    assert count(shop) == 0


def test_issue_sent_again_under_its_key_issues_once(shop):
    first = shop.admin.post("vouchers.json", CARD, idempotency_key="a")
    second = shop.admin.post("vouchers.json", CARD, idempotency_key="a")

    assert second.json() == first.json()
    assert count(shop) == 1


def test_voucher_is_mailed_on_request(shop):
    customer = make_customer(shop, email="ada@example.com")
    body = CARD | {"recipient_email": "Ada@example.com", "send_email": True}

    voucher = shop.admin.post("vouchers.json", body).json()["voucher"]

    with shop.scope():
        dispatch = OutboxDispatch.objects.get()
    assert dispatch.target == {"task_name": "send_email"}
    assert dispatch.payload == {
        "template_key": "voucher.issued",
        "to_email": "Ada@example.com",
        "customer_id": customer.pk,
        "ctx": {
            "voucher": {
                "code": voucher["code"],
                "currency": "EUR",
                "balance_cents": "10000",
                "expires_at": None,
                "recipient_email": "Ada@example.com",
            }
        },
        "reference_type": "voucher",
        "reference_id": int(voucher["id"]),
    }


def test_list_is_newest_first_in_pages(shop):
    vouchers = [make_voucher(shop) for _ in range(3)]

    first = shop.admin.get("vouchers.json?limit=2")
    second = shop.admin.get(f"vouchers.json?limit=2&cursor_id={first.json()['next_cursor_id']}")

    assert codes(first) == [vouchers[2].code, vouchers[1].code]
    assert codes(second) == [vouchers[0].code]
    assert second.json()["next_cursor_id"] is None


def test_list_shows_the_accounts_own_vouchers_alone(shop, other_shop):
    make_voucher(other_shop)

    assert codes(shop.admin.get("vouchers.json")) == []


@pytest.mark.parametrize(
    "form", [str, str.lower, lambda code: code.replace("-", ""), lambda code: f" {code} "]
)
def test_list_by_code_takes_it_in_any_form(shop, form):
    make_voucher(shop)
    wanted = make_voucher(shop)

    assert codes(shop.admin.get(f"vouchers.json?code={form(wanted.code)}")) == [wanted.code]


def test_list_by_what_can_be_no_code_is_empty(shop):
    make_voucher(shop)

    assert codes(shop.admin.get("vouchers.json?code=SUMMER")) == []


def test_list_by_recipient_and_currency(shop):
    euros = make_voucher(shop, recipient_email="Ada@example.com")
    dollars = make_voucher(shop, currency="USD", recipient_email="ada@example.com")
    make_voucher(shop)

    assert codes(shop.admin.get("vouchers.json?recipient_email=ADA@example.com")) == [
        dollars.code,
        euros.code,
    ]
    assert codes(shop.admin.get("vouchers.json?recipient_email=ada@example.com&currency=usd")) == [
        dollars.code
    ]


def test_list_by_status_goes_by_the_status_shown(shop):
    lasting = make_voucher(shop, expires_at=timezone.now() + timedelta(days=1))
    endless, overdue = make_voucher(shop), make_voucher(shop, is_overdue=True)
    disabled = make_voucher(shop)
    shop.admin.delete(f"vouchers/{disabled.pk}.json")

    assert codes(shop.admin.get("vouchers.json?status=active")) == [endless.code, lasting.code]
    assert codes(shop.admin.get("vouchers.json?status=expired")) == [overdue.code]
    assert codes(shop.admin.get("vouchers.json?status=disabled")) == [disabled.code]
    assert codes(shop.admin.get("vouchers.json?status=depleted")) == []


def test_list_by_a_status_that_is_none_is_refused(shop):
    assert field_errors(shop.admin.get("vouchers.json?status=open")) == {("status", "invalid_choice")}


def test_voucher_is_read_with_its_payment_attempts(shop):
    order, voucher = make_order(shop), make_voucher(shop)
    redeem = {"code": voucher.code, "order_id": order.pk}
    shop.admin.post("vouchers/redeem.json", redeem | {"amount_cents": 10_001})
    shop.admin.post("vouchers/redeem.json", redeem | {"amount_cents": 4000})

    found = get_voucher(shop, voucher)

    refused, succeeded = found["payment_attempts"]
    assert refused == {
        "id": refused["id"],
        "status": "refused",
        "failure_code": "insufficient_balance",
        "amount_cents": "10001",
        "order_id": str(order.pk),
        "checkout_id": None,
        "actor": refused["actor"],
        "created_at": refused["created_at"],
    }
    assert re.fullmatch(r"key:\d+", refused["actor"])
    assert (succeeded["status"], succeeded["failure_code"], succeeded["amount_cents"]) == (
        "succeeded",
        None,
        "4000",
    )
    assert (found["balance_cents"], found["status"]) == ("6000", "active")


def test_voucher_without_attempts_has_an_empty_list_of_them(shop):
    assert get_voucher(shop, make_voucher(shop))["payment_attempts"] == []


def test_available_is_the_balance_less_what_checkouts_hold(shop):
    voucher = make_voucher(shop)
    with shop.scope():
        hold_vouchers(checkout_id=7, amounts={voucher.pk: 2500}, now=timezone.now())

    found = get_voucher(shop, voucher)

    assert (found["balance_cents"], found["available_cents"]) == ("10000", "7500")


def test_overdue_voucher_shows_as_expired_before_the_sweeper_came(shop):
    voucher = make_voucher(shop, is_overdue=True)

    assert get_voucher(shop, voucher)["status"] == "expired"
    assert state(shop, voucher) == (10_000, 0, "active")


def test_delete_disables_for_good_and_repeats_the_same(shop):
    voucher = make_voucher(shop)

    first = shop.admin.delete(f"vouchers/{voucher.pk}.json")
    second = shop.admin.delete(f"vouchers/{voucher.pk}.json")

    assert first.status_code == second.status_code == 200
    assert second.json() == first.json()
    assert first.json()["voucher"]["status"] == "disabled"
    assert first.json()["voucher"]["disabled_at"] is not None
    assert state(shop, voucher) == (10_000, 0, "disabled")


@pytest.mark.parametrize("status", ["depleted", "expired"])
def test_voucher_with_nothing_to_give_can_be_disabled_all_the_same(shop, status):
    voucher = make_voucher(shop)
    with shop.scope():
        Voucher.objects.update(status=status)

    answer = shop.admin.delete(f"vouchers/{voucher.pk}.json")

    assert answer.json()["voucher"]["status"] == "disabled"


def test_delete_of_a_revoked_voucher_answers_it_unchanged(shop):
    voucher = make_voucher(shop)
    revoked = revoke(shop, voucher).json()

    answer = shop.admin.delete(f"vouchers/{voucher.pk}.json")

    assert answer.json() == revoked


def test_revoke_ends_a_voucher_for_good_and_repeats_the_same(shop):
    voucher = make_voucher(shop)

    first, second = revoke(shop, voucher), revoke(shop, voucher, reason="Another one")

    assert first.status_code == second.status_code == 200
    assert second.json() == first.json()
    assert first.json()["voucher"]["status"] == "revoked"
    assert first.json()["voucher"]["revoked_at"] is not None
    assert state(shop, voucher) == (10_000, 0, "revoked")
    assert voucher.revocation_reason == "Stolen"
    assert event_types(shop) == ["voucher.issued", "voucher.revoked"]
    with shop.scope():
        assert Event.objects.latest("pk").data == {
            "voucher_id": str(voucher.pk),
            "currency": "EUR",
            "balance_cents": "10000",
            "reason": "Stolen",
        }


@pytest.mark.parametrize("status", ["depleted", "expired", "disabled"])
def test_voucher_of_any_status_can_be_revoked(shop, status):
    voucher = make_voucher(shop)
    with shop.scope():
        Voucher.objects.update(status=status)

    assert revoke(shop, voucher).json()["voucher"]["status"] == "revoked"


@pytest.mark.parametrize(
    "body", [{}, {"reason": ""}, {"reason": None}, {"reason": 1}, {"reason": "x" * 1001}]
)
def test_revoke_without_a_reason_is_refused(shop, body):
    voucher = make_voucher(shop)

    answer = shop.admin.post(f"vouchers/{voucher.pk}/revoke.json", body)

    assert {field for field, _ in field_errors(answer)} == {"reason"}
    assert state(shop, voucher) == (10_000, 0, "active")


def test_voucher_of_another_account_is_not_found(shop, other_shop):
    theirs = make_voucher(other_shop)

    answers = [
        shop.admin.get(f"vouchers/{theirs.pk}.json"),
        shop.admin.delete(f"vouchers/{theirs.pk}.json"),
        revoke(shop, theirs),
    ]

    assert [problem(answer) for answer in answers] == [(404, "not_found")] * 3
    assert state(other_shop, theirs) == (10_000, 0, "active")


def test_key_needs_the_scope_of_vouchers(shop):
    voucher = make_voucher(shop)
    reader, other = shop.client_with("read_vouchers"), shop.client_with("write_discounts")
    redeem = {"code": voucher.code, "amount_cents": 1}

    assert reader.get("vouchers.json").status_code == 200
    assert other.get("vouchers.json").status_code == 403
    assert problem(reader.post("vouchers/redeem.json", redeem)) == (403, "insufficient_scope")
    assert state(shop, voucher) == (10_000, 0, "active")


@pytest.mark.parametrize("number", [1, 3])
def test_number_of_statements_does_not_depend_on_the_number_of_vouchers(
    shop, django_assert_num_queries, number
):
    vouchers = [make_voucher(shop) for _ in range(number)]
    for _ in range(number):
        shop.admin.post("vouchers/redeem.json", {"code": vouchers[0].code, "amount_cents": 1})

    with django_assert_num_queries(5):
        shop.admin.get("vouchers.json")
    with django_assert_num_queries(6):
        get_voucher(shop, vouchers[0])
    with django_assert_num_queries(5):
        shop.admin.get("voucher_redemptions.json")


def test_timestamps_are_those_of_the_operation(shop):
    before = datetime.now(UTC)

    voucher = shop.admin.post("vouchers.json", CARD).json()["voucher"]

    assert before <= datetime.fromisoformat(voucher["created_at"]) <= datetime.now(UTC)
