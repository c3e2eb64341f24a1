"""The log keeps the values before and after each change, and nothing that must be erased or kept secret."""

import pytest

from accounts.models import ApiKey, StaffMembership
from commerce.backoffice.audit import HIDDEN
from commerce.backoffice.models import StaffAction
from commerce.customers.models import Customer
from commerce.outbox.models import OutboxDispatch
from tests import factories
from tests.backoffice.clients import make_staff


def changes_of(shop, **filters):
    """Return the changes of the latest action: field, before and after."""
    with shop.scope():
        action = StaffAction.objects.filter(**filters).order_by("-pk").first()
    return [(change["field"], change["before"], change["after"]) for change in action.changes]


def test_change_by_a_form_has_both_values(shop, owner):
    product = factories.make_product(shop, title="Mug")

    owner.fill(f"catalog/product/{product.pk}/change/", title="Cup", status="draft")

    assert changes_of(shop) == [("title", "Mug", "Cup"), ("status", "active", "draft")]


def test_new_and_deleted_rows_have_one_side(shop, owner):
    owner.fill("customers/segment/add/", handle="all", name="All", filter='{"all": []}')
    with shop.scope():
        pk = StaffAction.objects.get().subject_id
    added = changes_of(shop)

    owner.post(f"customers/segment/{pk}/delete/", {"post": "yes"})

    assert added == [("handle", "", "all"), ("name", "", "All"), ("filter", "", '{"all":[]}')]
    assert changes_of(shop, kind="deleted") == [(field, after, before) for field, before, after in added]


def test_price_has_both_amounts(shop, owner):
    variant = factories.make_variant(shop, price_cents=1990)

    owner.fill(f"catalog/variant/{variant.pk}/change/", pricing__0__price_cents="25.00")

    ((field, before, after),) = changes_of(shop)
    assert field.endswith(": price cents")
    assert (before, after) == ("19.90 EUR", "25.00 EUR")


def test_setting_has_both_values_and_a_secret_none(shop, owner):
    page = "configuration/accountsetting/"

    owner.fill(
        page, **{"commerce.email.reply_to": "help@example.com", "commerce.email.smtp_password": "hunter2"}
    )

    assert changes_of(shop) == [
        ("commerce.email.smtp_password", "", HIDDEN),
        ("commerce.email.reply_to", "", "help@example.com"),
    ]
    with shop.scope():
        assert "hunter2" not in str(StaffAction.objects.get().changes)


def test_key_is_logged_without_its_secret(shop, owner):
    owner.confirm("accounts/apikey/issue/", kind="storefront", name="Shop front")
    issued = {field: after for field, _before, after in changes_of(shop)}
    with shop.scope():
        key = ApiKey.objects.get(name="Shop front")

    owner.confirm(f"accounts/apikey/{key.pk}/revoke/")

    assert (issued["name"], issued["kind"], issued["secret hash"]) == ("Shop front", "storefront", HIDDEN)
    ((field, before, after),) = changes_of(shop)
    assert (field, before) == ("revoked at", "")
    assert after.startswith("20")


def test_role_of_a_member_has_both_values(shop, owner):
    other = make_staff(shop, role="support")
    with shop.scope():
        membership = StaffMembership.objects.get(user=other.user)

    owner.fill(f"accounts/staffmembership/{membership.pk}/change/", role="manager")

    assert ("role", "support", "manager") in changes_of(shop)


def test_nothing_of_a_person_is_kept(shop, owner):
    ann = factories.make_customer(shop, email="ann@example.com", first_name="Ann")

    owner.fill(f"customers/customer/{ann.pk}/change/", first_name="Annika", country_code="DE")

    assert changes_of(shop) == [("first name", HIDDEN, HIDDEN), ("country code", "", "DE")]
    owner.confirm(f"customers/customer/{ann.pk}/redact/")
    with shop.scope():
        text = " ".join(str(action.changes) for action in StaffAction.objects.all())
        assert Customer.objects.get().redacted_at is not None
    assert "ann" not in text.lower()


def test_list_action_has_the_values_of_each_row(shop, owner):
    dead = [factories.make_dispatch(shop, status="dead", attempts=5) for _ in range(2)]

    owner.act("outbox/outboxdispatch/", "retry", *(dispatch.pk for dispatch in dead))

    with shop.scope():
        assert {dispatch.status for dispatch in OutboxDispatch.objects.all()} == {"pending"}
        actions = list(StaffAction.objects.all())
    assert [
        [change["before"] for change in action.changes if change["field"] == "status"] for action in actions
    ] == [["dead"], ["dead"]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"username": "{owner}"}, 1),
        ({"username": "{other}"}, 1),
        ({"subject": "catalog.product"}, 2),
        ({"kind__exact": "deleted"}, 0),
    ],
)
def test_log_is_filtered_by_person_object_and_kind(shop, owner, query, expected):
    other = make_staff(shop, role="manager")
    names = {"owner": owner.user.username, "other": other.user.username}
    for client in (owner, other):
        product = factories.make_product(shop)
        client.fill(f"catalog/product/{product.pk}/change/", title="Cup")

    page = owner.get(
        "backoffice/staffaction/", **{name: value.format(**names) for name, value in query.items()}
    )

    assert page.context["cl"].result_count == expected


def test_entry_leads_to_the_history_of_its_object_with_the_values(shop, owner):
    product = factories.make_product(shop, title="Mug <1>")
    owner.fill(f"catalog/product/{product.pk}/change/", title="Cup")

    log = owner.get("backoffice/staffaction/").content.decode()
    history = owner.get(f"catalog/product/{product.pk}/history/").content.decode()

    assert f'href="/backoffice/catalog/product/{product.pk}/history/"' in log
    assert "title: Mug &lt;1&gt; → Cup" in log
    assert "title: Mug &lt;1&gt; → Cup" in history
