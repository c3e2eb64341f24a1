"""`manage.py reconcile`: finds payments, orders and refunds that don't agree."""

import pytest
from django.utils import timezone

from checkouts.models import Checkout, CheckoutPaymentAttempt
from commerce.orders.models import Order
from commerce.orders.operations import mark_order_paid
from commerce.outbox.models import OutboxDispatch
from tests import factories
from tests.checkouts.reconciliation.command import difference, reconcile
from tests.storefront import checkout_in


@pytest.fixture
def variant(shop):
    return factories.make_variant(shop, price_cents=1000)


@pytest.fixture
def sold(shop, variant):
    """A completed checkout."""
    return checkout_in("completed", shop, (variant, 1), rate=factories.make_rate(shop, price_cents=0))


def at_gateway(shop, *, is_paid=True, **columns):
    """Turn the only attempt into one of a gateway, with a paid order."""
    with shop.scope():
        CheckoutPaymentAttempt.objects.update(gateway_key="key", provider_reference="ref", **columns)
        if is_paid:
            mark_order_paid(order_id=Order.objects.get().pk, now=timezone.now())
        return CheckoutPaymentAttempt.objects.get()


def refund(shop, attempt, status):
    finished_at = None if status in {"pending", "processing"} else timezone.now()
    factories.make_dispatch(
        shop,
        target={"task_name": "refund_payment"},
        payload={"attempt_id": attempt.pk},
        idempotency_key=f"refund_payment/{attempt.pk}",
        status=status,
        locked_until=timezone.now(),
        finished_at=finished_at,
    )


def test_payment_for_an_order_agrees(shop, sold):
    assert reconcile(shop) == []
    at_gateway(shop)
    assert reconcile(shop) == []


def test_payment_of_another_amount_than_the_order_costs_is_found(shop, sold):
    attempt = at_gateway(shop, amount_cents=900)

    assert difference(shop) == (
        f"payment attempt {attempt.pk} took 900 EUR, but order {sold['order_id']} is paid and costs 1000 EUR"
    )


def test_payment_for_an_order_that_is_pending_is_found(shop, sold):
    attempt = at_gateway(shop, is_paid=False)

    assert difference(shop) == (
        f"payment attempt {attempt.pk} took 1000 EUR, but order {sold['order_id']} is pending and costs 1000 EUR"
    )


def test_payment_of_an_abandoned_checkout_is_found_until_it_goes_back(shop, variant):
    checkout = checkout_in("ready", shop, (variant, 1), rate=factories.make_rate(shop, price_cents=0))
    assert reconcile(shop) == []
    with shop.scope():
        Checkout.objects.update(phase="abandoned")
        CheckoutPaymentAttempt.objects.update(gateway_key="key", provider_reference="ref")
        attempt = CheckoutPaymentAttempt.objects.get()

    lines = reconcile(shop)
    refund(shop, attempt, "pending")
    while_it_goes_back = reconcile(shop)

    expected = f"payment attempt {attempt.pk} took 1000 EUR, but checkout {checkout['id']} is abandoned"
    assert [line for line in lines if line.startswith("payment")] == [expected]
    assert [line for line in while_it_goes_back if line.startswith("payment")] == []


def test_order_without_a_payment_is_found(shop, sold):
    with shop.scope():
        CheckoutPaymentAttempt.objects.update(status="failed")

    assert difference(shop) == f"order {sold['order_id']} has 0 successful payments instead of one"


@pytest.mark.parametrize("status", ["dead", "cancelled", "skipped", "succeeded", None])
def test_late_money_that_nobody_gives_back_is_found(shop, variant, status):
    checkout_in("processing", shop, (variant, 1), rate=factories.make_rate(shop, price_cents=0))
    with shop.scope():
        Checkout.objects.update(phase="failed")
        CheckoutPaymentAttempt.objects.update(status="failed", gateway_key="key", paid_late_at=timezone.now())
        attempt = CheckoutPaymentAttempt.objects.get()
    if status:
        refund(shop, attempt, status)

    assert difference(shop) == (
        f"payment attempt {attempt.pk} must be refunded (1000 EUR), but the dispatch of its refund is {status or 'missing'}"
    )


def test_late_money_that_nobody_has_noted_is_found(shop, variant):
    checkout_in("processing", shop, (variant, 1), rate=factories.make_rate(shop, price_cents=0))
    with shop.scope():
        Checkout.objects.update(phase="failed")
        CheckoutPaymentAttempt.objects.update(
            status="failed", gateway_key="key", failure_code="paid_too_late"
        )
        attempt = CheckoutPaymentAttempt.objects.get()

    assert (
        difference(shop)
        == f"payment attempt {attempt.pk} must be refunded (1000 EUR), but the dispatch of its refund is missing"
    )


@pytest.mark.parametrize("status", ["pending", "processing"])
def test_late_money_on_its_way_back_agrees(shop, variant, status):
    checkout_in("processing", shop, (variant, 1), rate=factories.make_rate(shop, price_cents=0))
    with shop.scope():
        Checkout.objects.update(phase="failed")
        CheckoutPaymentAttempt.objects.update(status="failed", gateway_key="key", paid_late_at=timezone.now())
        attempt = CheckoutPaymentAttempt.objects.get()
    refund(shop, attempt, status)

    assert reconcile(shop) == []


def test_cancelled_order_whose_money_nobody_gives_back_is_found(shop, sold):
    attempt = at_gateway(shop)
    shop.admin.post(f"orders/{sold['order_id']}/cancel.json", {})
    with shop.scope():
        Order.objects.update(payment_status="paid", refunded_at=None)
        OutboxDispatch.objects.filter(idempotency_key__startswith="refund_payment/").update(
            status="dead", finished_at=timezone.now()
        )

    assert difference(shop) == (
        f"payment attempt {attempt.pk} must be refunded (1000 EUR), but the dispatch of its refund is dead"
    )
    with shop.scope():
        Order.objects.update(payment_status="refunded", refunded_at=timezone.now())
    assert reconcile(shop) == []


def test_refund_that_the_order_does_not_know_of_is_found(shop, sold):
    attempt = at_gateway(shop, refunded_at=timezone.now())

    assert difference(shop) == (
        f"payment attempt {attempt.pk} was refunded, but order {sold['order_id']} is still paid"
    )


@pytest.mark.parametrize("status", ["pending", "dead", None])
def test_page_of_an_ended_checkout_that_nobody_closes_is_found(shop, variant, status):
    checkout = checkout_in("processing", shop, (variant, 1), rate=factories.make_rate(shop, price_cents=0))
    cart = {"cart_token": checkout["cart_token"], "email": "a@example.com"}
    shop.storefront.post("checkouts.json", cart)
    with shop.scope():
        CheckoutPaymentAttempt.objects.update(gateway_key="key", status="requires_action")
        attempt = CheckoutPaymentAttempt.objects.get()
    if status:
        factories.make_dispatch(
            shop,
            idempotency_key=f"cancel_payment/{attempt.pk}",
            status=status,
            finished_at=timezone.now() if status == "dead" else None,
        )

    expected = (
        f"payment attempt {attempt.pk} of ended checkout {checkout['id']} is still requires_action,"
        f" and the dispatch of its cancellation is {status or 'missing'}"
    )
    assert reconcile(shop) == ([] if status == "pending" else [expected])


@pytest.mark.parametrize(
    ("phase", "columns", "line"),
    [
        (
            "processing",
            {"amount_cents": 900},
            "(1000 EUR) and is not ready to complete, but payment attempt {} of 900 EUR is pending",
        ),
        (
            "processing",
            {"currency": "CZK"},
            "(1000 EUR) and is not ready to complete, but payment attempt {} of 1000 CZK is pending",
        ),
        (
            "processing",
            {"status": "failed"},
            "(1000 EUR) and is not ready to complete, but there is no payment attempt",
        ),
        (
            "ready",
            {"status": "pending"},
            "(1000 EUR) and is ready to complete, but payment attempt {} of 1000 EUR is pending",
        ),
    ],
)
def test_checkout_that_is_paid_by_no_fitting_attempt_is_found(shop, variant, phase, columns, line):
    checkout = checkout_in(phase, shop, (variant, 1), rate=factories.make_rate(shop, price_cents=0))
    assert reconcile(shop) == []
    with shop.scope():
        CheckoutPaymentAttempt.objects.update(**columns)
        attempt = CheckoutPaymentAttempt.objects.get()

    assert difference(shop) == f"checkout {checkout['id']} is being paid " + line.format(attempt.pk)


@pytest.mark.parametrize("status", ["pending", "requires_action"])
@pytest.mark.parametrize("phase", ["failed", "payment"])
def test_open_payment_of_a_checkout_that_is_not_being_paid_is_found(shop, variant, phase, status):
    checkout = checkout_in("processing", shop, (variant, 1), rate=factories.make_rate(shop, price_cents=0))
    with shop.scope():
        Checkout.objects.update(phase=phase)
        CheckoutPaymentAttempt.objects.update(status=status)
        attempt = CheckoutPaymentAttempt.objects.get()

    assert difference(shop) == (
        f"payment attempt {attempt.pk} is {status}, but its checkout {checkout['id']} isn't being paid: it is {phase}"
    )


GATEWAY = {"payment_method": "stripe"}


def sell_at_gateway(shop, **columns):
    """Sell with a payment method of a gateway."""
    with shop.scope():
        Checkout.objects.update(**GATEWAY)
        Order.objects.update(**GATEWAY)
    return at_gateway(shop, **GATEWAY | columns)


@pytest.mark.parametrize(
    ("columns", "missing"),
    [
        ({"gateway_key": None}, "key"),
        ({"provider_reference": None}, "reference"),
        ({"confirmed_at": None}, "time of confirmation"),
    ],
)
def test_payment_that_no_refund_can_reach_is_found(shop, sold, columns, missing):
    attempt = sell_at_gateway(shop)
    assert reconcile(shop) == []
    with shop.scope():
        CheckoutPaymentAttempt.objects.update(**columns)

    assert difference(shop) == f"payment attempt {attempt.pk} by stripe took 1000 EUR, but has no {missing}"


def test_payment_by_another_method_than_the_order_is_found(shop, sold):
    attempt = at_gateway(shop, **GATEWAY)

    assert difference(shop) == (
        f"payment attempt {attempt.pk} is by stripe, but order {sold['order_id']} is paid by cod"
    )


def test_cancelled_order_whose_payment_is_unknown_to_the_gateway_is_found(shop, sold):
    attempt = sell_at_gateway(shop)
    with shop.scope():
        CheckoutPaymentAttempt.objects.update(gateway_key=None)
    shop.admin.post(f"orders/{sold['order_id']}/cancel.json", {})

    assert reconcile(shop) == [
        f"payment attempt {attempt.pk} by stripe took 1000 EUR, but has no key",
        (
            f"order {sold['order_id']} was cancelled, but its 1000 EUR, paid by stripe, can't be refunded: "
            "its payment is missing"
        ),
    ]


def test_refunded_order_whose_payment_was_never_given_back_is_found(shop, sold):
    attempt = sell_at_gateway(shop)
    shop.admin.post(f"orders/{sold['order_id']}/cancel.json", {})
    with shop.scope():
        Order.objects.update(payment_status="refunded", refunded_at=timezone.now())
        OutboxDispatch.objects.filter(idempotency_key__startswith="refund_payment/").delete()

    assert difference(shop) == (
        f"order {sold['order_id']} is refunded, but payment attempt {attempt.pk} was never refunded"
    )


def test_order_that_is_still_open_though_it_is_refunded_is_found(shop, sold):
    at_gateway(shop, refunded_at=timezone.now())
    with shop.scope():
        Order.objects.update(payment_status="refunded", refunded_at=timezone.now())

    assert (
        difference(shop) == f"order {sold['order_id']} is still open, though it is refunded and unfulfilled"
    )


def test_order_that_is_still_open_though_all_is_done_is_found(shop, sold):
    at_gateway(shop)
    assert shop.admin.post(f"orders/{sold['order_id']}/fulfill.json", {}).status_code == 200
    assert reconcile(shop) == []
    with shop.scope():
        Order.objects.update(status="open")

    assert difference(shop) == f"order {sold['order_id']} is still open, though it is paid and fulfilled"
