"""PUT payment_method, POST start_payment, POST confirm."""

import pytest

from checkouts.models import Checkout, CheckoutPaymentAttempt
from tests import factories
from tests.storefront import checkout_in


def put_method(shop, checkout, method):
    return shop.storefront.put(
        f"checkouts/{checkout['token']}/payment_method.json", {"payment_method": method}
    )


def test_cash_on_delivery_adds_the_methods_fee_with_its_tax(shop):
    factories.make_tax_rate(shop, 1900)
    rate = factories.make_rate(shop, price_cents=0, method=factories.make_method(shop, cod_fee_cents=238))
    checkout = checkout_in("shipping", shop, (factories.make_variant(shop, price_cents=1190), 1), rate=rate)

    cod = put_method(shop, checkout, "cod").json()["checkout"]
    transfer = put_method(shop, checkout, "bank_transfer").json()["checkout"]

    assert (cod["phase"], cod["payment_method"]) == ("payment", "cod")
    totals = cod["totals"]
    assert (totals["cod_fee_cents"], totals["cod_fee_tax_cents"]) == ("238", "38")
    assert (totals["total_cents"], totals["amount_due_cents"], totals["tax_cents"]) == ("1428", "1428", "228")
    assert (transfer["totals"]["cod_fee_cents"], transfer["totals"]["total_cents"]) == ("0", "1190")


@pytest.mark.parametrize("method", ["paypal", "stripe", ""])
def test_unknown_method_is_refused(shop, method):
    checkout = checkout_in("shipping", shop, (factories.make_variant(shop), 1))

    answer = put_method(shop, checkout, method)

    assert answer.status_code == 422
    assert shop.storefront.get(f"checkouts/{checkout['token']}.json").json()["checkout"] == checkout


def test_cash_on_delivery_needs_a_method_that_takes_it(shop):
    rate = factories.make_rate(shop, method=factories.make_method(shop, is_cod_compatible=False))
    checkout = checkout_in("shipping", shop, (factories.make_variant(shop), 1), rate=rate)

    answer = put_method(shop, checkout, "cod")

    assert (answer.status_code, answer.json()["code"]) == (422, "payment_method_not_supported")


@pytest.mark.parametrize("takes_cash", [False, True])
def test_cash_on_delivery_needs_a_pickup_point_that_takes_it(shop, takes_cash):
    method = factories.make_method(
        shop, carrier="dhl", requires_pickup_point=True, is_cod_compatible=True, cod_fee_cents=200
    )
    rate = factories.make_rate(shop, method=method)
    point = factories.make_pickup_point(carrier="dhl", country_code="DE", is_cod_supported=takes_cash)
    token = checkout_in("address", shop, (factories.make_variant(shop), 1), rate=rate)["token"]
    body = {"shipping_method_id": method.pk, "shipping_rate_id": rate.pk, "pickup_point_id": point.pk}
    checkout = shop.storefront.put(f"checkouts/{token}/shipping.json", body).json()["checkout"]

    answer = put_method(shop, checkout, "cod")

    if takes_cash:
        assert answer.json()["checkout"]["totals"]["cod_fee_cents"] == "200"
        return
    assert (answer.status_code, answer.json()["code"]) == (422, "payment_method_not_supported")
    assert answer.json()["supported"] == ["bank_transfer"]
    assert shop.storefront.get(f"checkouts/{token}.json").json()["checkout"] == checkout
    assert put_method(shop, checkout, "bank_transfer").json()["checkout"]["phase"] == "payment"


def test_payment_by_a_method_that_the_delivery_does_not_take_is_not_started(shop):
    """It may have been chosen when an earlier release didn't look at the pickup point."""
    method = factories.make_method(shop, carrier="dhl", requires_pickup_point=True, is_cod_compatible=True)
    rate = factories.make_rate(shop, method=method)
    point = factories.make_pickup_point(carrier="dhl", country_code="DE", is_cod_supported=False)
    token = checkout_in("address", shop, (factories.make_variant(shop), 1), rate=rate)["token"]
    body = {"shipping_method_id": method.pk, "shipping_rate_id": rate.pk, "pickup_point_id": point.pk}
    checkout = shop.storefront.put(f"checkouts/{token}/shipping.json", body).json()["checkout"]
    put_method(shop, checkout, "bank_transfer")
    with shop.scope():
        Checkout.objects.filter(token=token).update(payment_method="cod")

    answer = shop.storefront.post(f"checkouts/{token}/start_payment.json", {})

    assert (answer.status_code, answer.json()["code"]) == (422, "payment_method_not_supported")
    with shop.scope():
        assert Checkout.objects.get(token=token).phase == "payment"
        assert not CheckoutPaymentAttempt.objects.exists()


def test_payment_is_started_and_confirmed(shop):
    checkout = checkout_in("payment", shop, (factories.make_variant(shop, price_cents=1000), 1))
    path = f"checkouts/{checkout['token']}"

    started = shop.storefront.post(
        f"{path}/start_payment.json",
        {"return_url": "https://shop.example/ok", "cancel_url": "http://localhost/no"},
    ).json()
    confirmed = shop.storefront.post(f"{path}/confirm.json", {"callback_payload": {"any": "thing"}}).json()
    repeated = shop.storefront.post(f"{path}/confirm.json", {"callback_payload": {}}).json()

    attempt = started["payment_attempt"]
    assert started["checkout"]["phase"] == "processing"
    assert (attempt["payment_method"], attempt["status"], attempt["redirect_url"]) == ("cod", "pending", None)
    assert (attempt["amount_cents"], attempt["currency"]) == (checkout["totals"]["amount_due_cents"], "EUR")
    assert (confirmed["checkout"]["phase"], confirmed["checkout"]["ready_to_complete"]) == (
        "processing",
        True,
    )
    assert repeated == confirmed
    with shop.scope():
        stored = CheckoutPaymentAttempt.objects.get()
    assert (stored.status, stored.confirmed_at is not None) == ("succeeded", True)


@pytest.mark.parametrize(
    "url", ["ftp://x.example/", "javascript:alert(1)", "/relative", 7, "https://", "http://a b/"]
)
def test_bad_return_url_is_refused(shop, url):
    checkout = checkout_in("payment", shop, (factories.make_variant(shop), 1))

    answer = shop.storefront.post(f"checkouts/{checkout['token']}/start_payment.json", {"return_url": url})

    assert answer.status_code == 422
    with shop.scope():
        assert CheckoutPaymentAttempt.objects.count() == 0


def test_return_urls_may_be_null_where_nobody_is_redirected(shop):
    checkout = checkout_in("payment", shop, (factories.make_variant(shop), 1))

    answer = shop.storefront.post(
        f"checkouts/{checkout['token']}/start_payment.json", {"return_url": None, "cancel_url": None}
    )

    assert (answer.status_code, answer.json()["checkout"]["phase"]) == (200, "processing")


def test_totals_freeze_at_payment(shop):
    rate = factories.make_rate(shop, price_cents=490)
    checkout = checkout_in("payment", shop, (factories.make_variant(shop), 1), rate=rate)
    with shop.scope():
        rate.price_cents = 9900
        rate.save()

    started = shop.storefront.post(f"checkouts/{checkout['token']}/start_payment.json", {}).json()

    assert started["checkout"]["totals"] == checkout["totals"]
