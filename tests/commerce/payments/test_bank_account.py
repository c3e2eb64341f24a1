"""The bank account of a shop: its settings, and the variables of the confirmation email."""

import pytest

from commerce.configuration.models import AccountSetting
from commerce.outbox.models import OutboxDispatch
from tests import factories
from tests.storefront import checkout_in

IBAN = "DE89370400440532013000"


def put(shop, **values):
    settings = {f"commerce.payments.bank_account_{name}": value for name, value in values.items()}
    return shop.admin.put("settings.json", {"settings": settings})


def sell(shop, payment_method):
    """Complete an order. Return the `order` of its confirmation."""
    checkout_in("completed", shop, (factories.make_variant(shop), 1), payment_method=payment_method)
    with shop.scope():
        dispatches = OutboxDispatch.objects.filter(target__task_name="send_email")
        (payload,) = dispatches.values_list("payload", flat=True)
    return payload["ctx"]["order"]


def test_account_is_stored_as_it_is_checked(shop):
    put(shop, iban=" de89 3704 0044 0532 0130 00", bic="cobadeff")

    with shop.scope():
        stored = dict(AccountSetting.objects.values_list("name", "value"))
    shown = shop.admin.get("settings.json").json()["settings"]
    assert stored == {
        "commerce.payments.bank_account_bic": "COBADEFF",
        "commerce.payments.bank_account_iban": IBAN,
    }
    assert shown["commerce.payments.bank_account_iban"] == IBAN


def test_confirmation_of_a_bank_transfer_names_the_account(shop):
    assert (
        put(
            shop, holder="Straw Hats Ltd", iban=" de89 3704 0044 0532 0130 00", bic="cobadeff", note=""
        ).status_code
        == 200
    )

    assert sell(shop, "bank_transfer")["bank_account"] == {
        "holder": "Straw Hats Ltd",
        "iban": "DE89 3704 0044 0532 0130 00",
        "bic": "COBADEFF",
        "note": "",
    }


def test_confirmation_without_an_account_names_none(shop):
    put(shop, holder="Straw Hats Ltd")

    assert sell(shop, "bank_transfer")["bank_account"] is None


def test_note_alone_is_enough(shop):
    put(shop, note="Account 123/0100")

    assert sell(shop, "bank_transfer")["bank_account"]["note"] == "Account 123/0100"


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"iban": "DE89370400440532013001"}, "invalid_iban"),
        ({"iban": "123"}, "invalid_iban"),
        ({"bic": "NOBIC"}, "invalid_bic"),
        ({"holder": "x" * 71}, "invalid"),
        ({"note": "two\nlines"}, "invalid"),
    ],
)
def test_account_that_cannot_be_is_refused(shop, values, code):
    answer = put(shop, **values)

    assert answer.status_code == 422
    assert [error["code"] for error in answer.json()["errors"]] == [code]


def test_own_account_is_not_mixed_with_the_installations(shop, monkeypatch):
    monkeypatch.setattr(
        "commerce.payments.bank_account.installation_value", lambda name: "of the installation"
    )
    put(shop, iban=IBAN)

    assert sell(shop, "bank_transfer")["bank_account"] == {
        "holder": "",
        "iban": "DE89 3704 0044 0532 0130 00",
        "bic": "",
        "note": "",
    }
