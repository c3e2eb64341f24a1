"""`manage.py reconcile`: finds orders that differ from their checkouts, and events that differ from orders."""

import pytest

from tests.checkouts.reconciliation.sale import OF_SHOP, ORDER

pytestmark = pytest.mark.django_db(transaction=True)

THE_ORDER = "WHERE account_id = %(shop)s AND id = %(order)s"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ("market_id = market_id + 1", "the market_id"),
        ("locale = 'xx'", "the locale xx"),
        ("shipping_method = NULL", "the shipping method none"),
        ("vat = '{\"reverse_charge\": true}'", "the reverse charge true"),
        ("discount_codes = jsonb_set(discount_codes, '{0,code}', '\"XXX\"')", "the discount codes"),
    ],
)
def test_order_that_is_no_copy_of_its_checkout_is_found(sold, change, line):
    lines = sold.damaged(f"UPDATE orders SET {change} {THE_ORDER}")

    assert lines[0].startswith(f"order {sold.order_id} has {line}")


def test_snapshots_with_numbers_as_texts_agree(sold):
    lines = sold.damaged(
        "UPDATE orders SET discount_codes = regexp_replace(discount_codes::text, '(: )([0-9]+)', '\\1\"\\2\"', 'g')::jsonb"
        f" {THE_ORDER}"
    )

    assert lines == []


def test_order_placed_at_another_time_than_its_checkout_was_completed_is_found(sold):
    (line,) = sold.damaged(f"UPDATE orders SET placed_at = placed_at - interval '5 days' {THE_ORDER}")

    assert line.startswith(f"order {sold.order_id} was placed at ")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ("sku = 'other'", "its sku is other"),
        ("title = 'Other'", "its title is Other"),
        ("tax_class = 'zzz'", "its tax_class is zzz"),
        ("tax_rate_bp = 7", "its tax_rate_bp is 7"),
        ("unit_price_with_tax_cents = 1", "its unit_price_with_tax_cents is 1"),
    ],
)
def test_line_that_is_no_copy_of_the_checkouts_is_found(sold, change, line):
    (found,) = sold.damaged(f"UPDATE order_line_items SET {change} {ORDER}")

    assert found.startswith(f"order {sold.order_id}, line 1: {line}, but that of the checkout's line is ")


TELL = (
    "INSERT INTO events (account_id, type, data, occurred_at) SELECT account_id, {type}, data, occurred_at"
    " FROM events WHERE type = 'checkout.completed' AND "
)
EVENT = "account_id = %(shop)s AND data->>'order_id' = %(order)s::text"


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        (
            TELL.format(type="type") + EVENT,
            "has 2 events checkout.completed",
        ),
        (
            TELL.format(type="'order.cancelled'") + EVENT,
            "has 1 events order.cancelled, though it is open, pending and unfulfilled",
        ),
        (
            "UPDATE orders SET payment_status = 'paid', paid_at = now() " + THE_ORDER,
            "has no event order.paid",
        ),
        (
            f"UPDATE events SET data = data || '{{\"total_cents\": 1}}' WHERE type = 'checkout.completed' AND {EVENT}",
            "is number 1001 and costs 1800, but its event checkout.completed says number 1001 and 1",
        ),
    ],
)
def test_event_that_tells_otherwise_than_the_order_is_found(sold, statement, line):
    assert sold.damaged(statement) == [f"order {sold.order_id} {line}"]


@pytest.mark.parametrize("event", ["voucher.issued", "voucher.redeemed"])
def test_gift_card_that_the_feed_does_not_tell_of_is_found(sold, event):
    lines = sold.damaged(
        f"DELETE FROM events WHERE account_id = %(shop)s AND type = '{event}'"
        " AND data->>'voucher_id' = %(card)s::text"
    )

    assert lines == [f"gift card {sold.card.pk} should have 1 events {event}, by its ledger, but has 0"]


def test_first_entries_that_are_not_the_first_balance_are_found(sold):
    lines = sold.damaged(
        "UPDATE vouchers SET initial_balance_cents = 900 WHERE account_id = %(shop)s AND id = %(card)s"
    )

    assert lines == [f"voucher {sold.card.pk} began with 900, but its ledger has 1 first entries, of 500"]


def test_units_of_a_checkout_that_holds_none_are_found(paying):
    lines = paying.damaged(
        "UPDATE checkouts SET is_stock_reserved = false WHERE account_id = %(shop)s AND id = %(checkout)s"
    )

    assert lines == [
        f"checkout {paying.checkout_id} is processing and holds no stock, but has 2 units reserved"
    ]


def test_adjustment_that_counted_otherwise_is_found(sold):
    (line,) = sold.damaged(f"UPDATE inventory_adjustments SET on_hand_after = 11 {OF_SHOP}")

    assert line.endswith(
        f"of inventory level {sold.level_id} says that 11 units were on hand, but those up to it come to 10"
    )


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            "vouchers SET status = 'expired' WHERE id = %(card)s",
            "voucher {card} is expired, but has no expires_at",
        ),
        (
            "vouchers SET status = 'disabled' WHERE id = %(card)s",
            "voucher {card} is disabled, but has no disabled_at",
        ),
        (
            "vouchers SET status = 'revoked' WHERE id = %(card)s",
            "voucher {card} is revoked, but has no revoked_at",
        ),
        (
            "discounts SET status = 'archived' WHERE id = %(discount)s",
            "discount {discount} is archived, but has no archived_at",
        ),
    ],
)
def test_status_without_its_time_is_found(sold, change, line):
    lines = sold.damaged(f"UPDATE {change} AND account_id = %(shop)s")

    assert lines == [line.format(card=sold.card.pk, discount=sold.discount.pk)]


def test_money_back_on_a_gift_card_without_an_order_is_found(sold):
    lines = sold.damaged(
        "INSERT INTO voucher_redemptions"
        " (account_id, voucher_id, kind, amount_cents, balance_after_cents, actor, created_at)"
        " SELECT account_id, id, 'reversal', 300, 300, 'somebody', now() FROM vouchers"
        " WHERE account_id = %(shop)s AND id = %(card)s",
        "UPDATE vouchers SET balance_cents = 300, status = 'active'"
        " WHERE account_id = %(shop)s AND id = %(card)s",
    )

    (line,) = lines
    assert line.startswith("gift card entry ")
    assert line.endswith(" is reversal, but has no order_id")
