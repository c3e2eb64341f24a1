"""Saving an unedited page changes nothing, and edits are saved."""

from datetime import UTC, datetime

import pytest

from accounts.models import Market, User
from commerce.backoffice.models import StaffAction
from commerce.catalog.models import Product, Variant
from commerce.configuration.models import AccountSetting
from commerce.configuration.operations import change_settings
from commerce.customers.models import Customer
from commerce.customers.operations import redact_customer
from commerce.events.models import Event
from discounts.models import Discount
from discounts.operations import archive_discount
from shipping.models import ShippingMethod, ShippingRate, ShippingZone
from tests import factories
from tests.backoffice.clients import filled, make_user
from tests.backoffice.stale import (
    SETTINGS_PAGE,
    conflict_message,
    errors_of,
    make_page_row,
    path_of,
    prefix_of,
    set_meanwhile,
    stored,
)

LONG = "A sentence that says much.\n" * 20
REPLY_TO = "commerce.email.reply_to"


def logged(shop):
    with shop.scope():
        return list(StaffAction.objects.order_by("pk").values_list("summary", flat=True))


@pytest.mark.parametrize(
    ("model", "values"),
    [
        (Product, {"description": "line 1\nline 2", "title": "a\nb"}),
        (Product, {"description": "line 1\r\nline 2\r", "title": "a\r\nb"}),
        (Product, {"description": "\n lead\n\ttrail\n ", "title": " a\u2028b\u00a0"}),
        (Product, {"description": " \n", "title": "\u00a0 a \u00a0 b"}),
        (Variant, {"title": "a\nb ", "sku": " s k u "}),
        (Customer, {"first_name": " A\n", "tags": ["vip,gold", " b ", "c\nd"]}),
        (Discount, {"title": "a\nb", "customer_eligibility": "tagged", "customer_tags": ["a,b", " c "]}),
        (Discount, {"starts_at": datetime(2026, 3, 29, 0, 30, 0, 123456, tzinfo=UTC)}),
        (
            ShippingMethod,
            {"name": " a\nb", "carrier_config": {"a": [1, 2.0, {"b": None}], "z": "é\n\r\u00a0"}},
        ),
        (Market, {"name": "a\n\nb"}),
    ],
)
def test_page_that_staff_left_alone_changes_no_byte(shop, owner, model, values):
    row = make_page_row(shop, model)
    set_meanwhile(shop, row, **values)
    with shop.scope():
        before = model.objects.filter(pk=row.pk).values().get()

    answer = owner.post(path_of(row), filled(owner.get(path_of(row))))

    assert answer.status_code == 302, errors_of(answer)
    with shop.scope():
        assert model.objects.filter(pk=row.pk).values().get() == before
    assert not any(logged(shop))


def test_rows_below_that_staff_left_alone_change_no_byte(shop, owner):
    method = make_page_row(shop, ShippingMethod)
    with shop.scope():
        rate = ShippingRate.objects.get()
    set_meanwhile(shop, rate, display_name=" a\nb\u00a0")
    page = owner.get(path_of(method))
    sent = filled(page)
    set_meanwhile(shop, rate, deleted_at=datetime.now(UTC))

    answers = [owner.post(path_of(method), sent)]
    set_meanwhile(shop, rate, deleted_at=None)
    answers += [
        owner.post(path_of(method), sent | {f"{prefix_of(page, ShippingRate)}-0-price_cents": "0.07"})
    ]

    assert [answer.status_code for answer in answers] == [302, 302]
    assert stored(shop, rate, "display_name", "price_cents") == {
        "display_name": " a\nb\u00a0",
        "price_cents": 7,
    }


def test_settings_that_staff_left_alone_keep_every_byte(shop, owner):
    with shop.scope():
        change_settings(changes={REPLY_TO: "help@example.com"})
        AccountSetting.objects.filter(name=REPLY_TO).update(value="help@\nexample.com ")

    owner.post(
        SETTINGS_PAGE, filled(owner.get(SETTINGS_PAGE)) | {"commerce.checkout.session_ttl_minutes": 30}
    )

    with shop.scope():
        own = dict(AccountSetting.objects.values_list("name", "value"))
    assert own == {REPLY_TO: "help@\nexample.com ", "commerce.checkout.session_ttl_minutes": 30}


@pytest.mark.parametrize("meanwhile", ["by REST\nnew", "by REST", ""])
def test_text_of_many_lines_that_others_changed_stays(shop, owner, meanwhile):
    product = make_page_row(shop, Product)
    set_meanwhile(shop, product, description="line 1\nline 2")
    sent = filled(owner.get(path_of(product)))
    set_meanwhile(shop, product, description=meanwhile)

    answer = owner.post(path_of(product), sent | {"title": "Edited"})

    assert answer.status_code == 302, errors_of(answer)
    assert stored(shop, product, "title", "description") == {"title": "Edited", "description": meanwhile}
    assert logged(shop) == ["changed Title"]


def test_page_refused_for_another_field_shows_the_current_text(shop, owner):
    product = make_page_row(shop, Product)
    set_meanwhile(shop, product, description="line 1\nline 2")
    sent = filled(owner.get(path_of(product)))
    set_meanwhile(shop, product, description="by REST\nnew", title="Theirs")

    refused = owner.post(path_of(product), sent | {"title": "Ours"})
    again = owner.post(path_of(product), filled(refused))

    assert errors_of(refused) == {"title": [conflict_message("Title", "Theirs")]}
    assert filled(refused)["description"] == "by REST\r\nnew"
    assert again.status_code == 302
    assert stored(shop, product, "title", "description") == {"title": "Ours", "description": "by REST\nnew"}


@pytest.mark.parametrize("theirs", ["<b>1</b>\n2", "1 " * 51])
def test_longer_text_of_others_is_shown_line_by_line_below_the_field(shop, owner, theirs):
    product = make_page_row(shop, Product)
    sent = filled(owner.get(path_of(product)))
    set_meanwhile(shop, product, description=theirs)

    refused = owner.post(path_of(product), sent | {"description": "ours\r\n2"})
    kept = stored(shop, product, "description")
    again = owner.post(path_of(product), filled(refused))

    shown = theirs.replace("<", "&lt;").replace(">", "&gt;")
    said = "somebody else changed “Description” to the text below. Check and save again.<pre tabindex="
    (error,) = errors_of(refused)["description"]
    assert said in error
    assert error.endswith(f">{shown}</pre>")
    assert error in refused.text
    assert "overflow: auto; white-space: pre-wrap" in error
    assert kept == {"description": theirs}
    assert again.status_code == 302
    assert stored(shop, product, "description") == {"description": "ours\n2"}


def test_edited_text_is_stored_with_plain_newlines(shop, owner):
    product = make_page_row(shop, Product)

    changed = owner.fill(path_of(product), description="1\r\n2\r3\n4")
    added = owner.fill("catalog/product/add/", handle="new", title="New", description="1\r\n2")

    assert (changed.status_code, added.status_code) == (302, 302)
    assert stored(shop, product, "description") == {"description": "1\n2\n3\n4"}
    with shop.scope():
        assert Product.objects.get(handle="new").description == "1\n2"


@pytest.mark.parametrize(
    ("model", "field", "value", "sent", "expected"),
    [
        (Customer, "tags", ["vip"], "", []),
        (Customer, "tags", ["vip"], "a,b", ["a", "b"]),
        (ShippingZone, "zip_patterns", ["1*"], "", []),
        (ShippingMethod, "carrier_config", {"depot": 7}, "{}", {}),
    ],
)
def test_form_of_a_script_empties_a_field(shop, owner, model, field, value, sent, expected):
    row = make_page_row(shop, model)
    set_meanwhile(shop, row, **{field: value})
    form = filled(owner.get(path_of(row))) | {field: sent}
    form = {
        name: value for name, value in form.items() if name != "_shown" and not name.startswith("initial-")
    }

    answer = owner.post(path_of(row), form)

    assert answer.status_code == 302, errors_of(answer)
    assert stored(shop, row, field) == {field: expected}


@pytest.mark.parametrize("claimed", ["", "rest", "other"])
def test_hidden_inputs_of_a_page_decide_nothing(shop, owner, claimed):
    customer = make_page_row(shop, Customer)
    set_meanwhile(shop, customer, tags=["vip"])
    page = owner.get(path_of(customer))
    sent = filled(page) | {"initial-tags": claimed}
    set_meanwhile(shop, customer, tags=["rest"])

    left = owner.post(path_of(customer), sent | {"first_name": "Edited"})
    refused = owner.post(path_of(customer), sent | {"first_name": "Edited", "tags": "ours"})

    assert "initial-tags" not in page.text
    assert left.status_code == 302
    assert errors_of(refused) == {"tags": [conflict_message("Tags", "rest")]}
    assert stored(shop, customer, "first_name", "tags") == {"first_name": "Edited", "tags": ["rest"]}


def test_page_of_a_customer_who_was_redacted_meanwhile_says_so(shop, owner, support):
    customer = make_page_row(shop, Customer)
    sent = filled(owner.get(path_of(customer)))
    with shop.scope():
        redact_customer(customer_id=customer.pk, now=datetime(2026, 11, 22, 10, 5, tzinfo=UTC))

    answer = owner.post(path_of(customer), sent | {"first_name": "Zed"})

    assert answer.status_code == 409
    said = "Nothing was saved: the customer&#x27;s personal data was erased on 22 Nov 2026, 10:05 UTC."
    assert said in answer.text
    assert stored(shop, customer, "first_name") == {"first_name": ""}
    assert owner.get(path_of(customer)).status_code == 200
    assert support.post(path_of(customer), sent).status_code == 403
    assert logged(shop) == []


def test_page_of_a_discount_that_was_archived_meanwhile_says_so(shop, owner):
    discount = make_page_row(shop, Discount)
    sent = filled(owner.get(path_of(discount)))
    with shop.scope():
        archive_discount(discount_id=discount.pk, now=datetime(2026, 11, 22, 10, 5, tzinfo=UTC))

    answer = owner.post(path_of(discount), sent | {"title": "Zed"})

    assert answer.status_code == 409
    assert "Nothing was saved: the discount was archived on 22 Nov 2026, 10:05 UTC." in answer.text
    assert stored(shop, discount, "title") == {"title": "Some"}
    assert logged(shop) == []


@pytest.mark.parametrize("model", [Product, Customer, Market])
def test_no_page_is_saved_as_a_new_row(shop, owner, model):
    row = make_page_row(shop, model)
    sent = filled(owner.get(path_of(row))) | {"_saveasnew": "1", "handle": "new", "email": "new@example.com"}
    with shop.scope():
        before = list(model.objects.order_by("pk").values())

    answer = owner.post(path_of(row), sent)

    assert answer.status_code == 422
    assert "saved as a new row. Nothing was saved." in answer.text
    with shop.scope():
        assert list(model.objects.order_by("pk").values()) == before
    assert logged(shop) == []


def test_no_user_is_saved_as_a_new_one(operator):
    user = make_user()
    passwords = {"password1": "A long passphrase 17", "password2": "A long passphrase 17"}

    answer = operator.post(
        f"accounts/user/{user.pk}/change/",
        {"_saveasnew": "1", "username": "new", "usable_password": "true"} | passwords,
    )

    assert answer.status_code == 422
    assert not User.objects.filter(username="new").exists()


def test_dialog_takes_text_with_plain_newlines(shop, owner):
    voucher = factories.make_voucher(shop)

    owner.confirm(path_of(voucher, "revoke"), reason="Stolen\r\nby post")

    with shop.scope():
        assert Event.objects.get(type="voucher.revoked").data["reason"] == "Stolen\nby post"


def test_time_that_others_set_to_the_same_second_is_no_conflict(shop, owner):
    discount = make_page_row(shop, Discount)
    sent = filled(owner.get(path_of(discount)))
    theirs = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
    set_meanwhile(shop, discount, starts_at=theirs)

    answer = owner.post(path_of(discount), sent | {"starts_at_0": "2026-01-02", "starts_at_1": "03:04:05"})

    assert answer.status_code == 302, errors_of(answer)
    assert stored(shop, discount, "starts_at") == {"starts_at": theirs}
