"""A shop's own roles, and the limit on giving rights: nobody gives more than they have."""

import pytest
from django.contrib import admin
from django.db import IntegrityError

from accounts.models import ApiKey, StaffInvitation, StaffMembership, StaffRole
from accounts.operations import UNLIMITED, add_member, change_role, remove_member
from accounts.roles import STAFF_SCOPES
from commerce.backoffice.models import StaffAction
from commerce.catalog.models import Product
from commerce.errors import InsufficientScope, Refusal, ValidationFailed
from commerce.orders.models import Order
from commerce.outbox.models import OutboxDispatch
from discounts.models import Discount
from emails.models import EmailDelivery
from tests import factories
from tests.backoffice.clients import make_role, make_staff, make_user
from tests.rows import make_row
from tests.threads import run_threads

ROLES = "accounts/staffrole/"
MEMBERS = "accounts/staffmembership/"
INVITATIONS = "accounts/staffinvitation/"


def membership_of(shop, client):
    with shop.scope():
        return StaffMembership.objects.get(user=client.user)


def path_of(model, *parts):
    return "/".join([model._meta.app_label, model._meta.model_name, *map(str, parts), ""])


def statuses(client, *paths):
    return [client.get(path).status_code for path in paths]


def test_owner_makes_changes_and_deletes_a_role(shop, owner):
    owner.fill(f"{ROLES}add/", name="Warehouse", scopes=["read_orders", "write_inventory"])
    with shop.scope():
        made = StaffRole.objects.get()
    owner.fill(f"{ROLES}{made.pk}/change/", scopes=["read_orders", "write_orders"])
    with shop.scope():
        changed = StaffRole.objects.get()
    owner.post(f"{ROLES}{made.pk}/delete/", {"post": "yes"})

    assert (made.name, made.scopes) == ("Warehouse", ["read_orders", "write_inventory"])
    assert changed.scopes == ["read_orders", "write_orders"]
    with shop.scope():
        assert not StaffRole.objects.exists()
        kinds = StaffAction.objects.order_by("pk").values_list("kind", flat=True)
        assert list(kinds) == ["added", "changed", "deleted"]


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [({"name": ""}, "name"), ({"scopes": []}, "scopes"), ({"scopes": ["read_everything"]}, "scopes")],
)
def test_role_needs_a_name_and_known_scopes(shop, owner, fields, wrong):
    answer = owner.fill(f"{ROLES}add/", **{"name": "Own", "scopes": ["read_orders"]} | fields)

    assert list(answer.context["adminform"].form.errors) == [wrong]
    with shop.scope():
        assert not StaffRole.objects.exists()


def test_two_roles_have_different_names(shop, owner):
    make_role(shop, "read_orders", name="Own")

    answer = owner.fill(f"{ROLES}add/", name="Own", scopes=["read_orders"])

    assert answer.context["adminform"].form.non_field_errors() == [
        "The shop already has a role with this name"
    ]


def test_member_may_do_what_the_role_says(shop, client_with):
    product = factories.make_product(shop, title="Mug")
    reader, writer = client_with("read_products"), client_with("write_products")
    path = path_of(Product, product.pk, "change")

    refused = reader.post(path, {"title": "Cup"})
    writer.fill(path, title="Cup")

    assert statuses(reader, path_of(Product), path, path_of(Product, "add")) == [200, 200, 403]
    assert statuses(writer, path_of(Product), path_of(Order), path_of(StaffRole)) == [200, 403, 403]
    assert refused.status_code == 403
    with shop.scope():
        assert Product.objects.get().title == "Cup"


@pytest.mark.parametrize("model", admin.site._registry, ids=lambda model: model._meta.label)
def test_page_needs_the_scope_of_its_area(client_with, model):
    """Every page is closed to a member who has all scopes but those of its area."""
    area = getattr(admin.site._registry[model], "area", "")
    client = client_with(*(scope for scope in STAFF_SCOPES if scope.partition("_")[2] != area))

    assert client.get(path_of(model)).status_code == 403
    assert client.get(path_of(model, "add")).status_code == 403


def test_sidebar_and_overview_show_what_the_role_may_see(shop, client_with):
    with shop.scope():
        order = make_row(Order, number=4711)

    page = client_with("read_products").get()

    links = {item["link"] for group in page.context["sidebar_navigation"] for item in group["items"]}
    assert links == {
        "/backoffice/",
        "/backoffice/catalog/product/",
        "/backoffice/catalog/variant/",
        "/backoffice/taxes/taxrate/",
    }
    assert str(order.number) not in page.content.decode()
    assert page.context["figures"] == []


def test_inline_needs_the_scope_of_its_page(shop, client_with):
    variant = factories.make_variant(shop)
    page = client_with("read_products").get(f"catalog/variant/{variant.pk}/change/")

    permissions = {
        (inline.has_add_permission, inline.has_change_permission, inline.has_delete_permission)
        for inline in page.context["inline_admin_formsets"]
    }

    assert permissions == {(False, False, False)}


def test_gift_cards_are_hidden_without_their_scope(shop, client_with):
    delivery = factories.make_delivery(shop, template_key="voucher.issued")
    factories.make_discount(shop, type="gift_card", code="GIFT", voucher=factories.make_voucher(shop))
    client = client_with("write_discounts", "write_emails", "read_orders")

    listed = client.get(path_of(Discount)).context["cl"].result_list
    deliveries = client.get(path_of(EmailDelivery)).context["cl"].result_list

    assert list(listed) == []
    assert list(deliveries) == []
    assert client.get(path_of(EmailDelivery, delivery.pk, "change")).status_code == 302


def test_dispatch_needs_the_scope_of_its_task(shop, client_with):
    with shop.scope():
        settling = make_row(OutboxDispatch, target={"task_name": "settle_payment"}, status="dead")
    client, reader = client_with("write_emails"), client_with("write_emails", "read_orders")

    unseen = client.confirm(path_of(OutboxDispatch, settling.pk, "cancel_this"))
    refused = reader.confirm(path_of(OutboxDispatch, settling.pk, "cancel_this"))

    assert unseen.status_code == 404
    assert refused.status_code == 200
    with shop.scope():
        assert OutboxDispatch.objects.get().status == "dead"


def test_key_has_no_more_scopes_than_the_member(shop, client_with):
    client = client_with("write_api_keys", "read_orders")

    for scopes in ([], ["write_orders"], ["read_orders", "read_customers"]):
        client.confirm(path_of(ApiKey, "issue"), kind="admin", name="CI", scopes=scopes)
    with shop.scope():
        refused = ApiKey.objects.filter(name="CI").count()
    client.confirm(path_of(ApiKey, "issue"), kind="admin", name="CI", scopes=["read_orders"])

    assert refused == 0
    with shop.scope():
        assert ApiKey.objects.get(name="CI").scopes == ["read_orders"]


def test_member_gives_no_role_with_more_rights(shop, client_with):
    client = client_with("write_staff", "read_orders")
    own = str(membership_of(shop, client).role)
    larger = make_role(shop, "write_orders", name="Larger")
    smaller = make_role(shop, "read_orders", name="Smaller")

    page = client.get(f"{INVITATIONS}add/")
    for number, role in enumerate(("owner", "manager", "read_only", str(larger.pk), "999")):
        client.post(f"{INVITATIONS}add/", {"email": f"n{number}@example.com", "role": role})
    client.post(f"{INVITATIONS}add/", {"email": "bea@example.com", "role": str(smaller.pk)})

    assert dict(page.context["adminform"].form.fields["role"].choices).keys() == {own, str(smaller.pk)}
    with shop.scope():
        assert list(StaffInvitation.objects.values_list("email", flat=True)) == ["bea@example.com"]


def test_member_makes_no_role_with_more_rights(shop, client_with):
    client = client_with("write_staff", "read_orders")
    larger = make_role(shop, "write_orders", name="Larger")

    answer = client.fill(f"{ROLES}add/", name="Mine", scopes=["write_orders"])
    refused = client.post(f"{ROLES}{larger.pk}/change/", {"name": "Larger", "scopes": ["read_orders"]})
    deleted = client.post(f"{ROLES}{larger.pk}/delete/", {"post": "yes"})

    assert answer.context["adminform"].form.non_field_errors() == [
        "You can't give or take scopes that you don't have."
    ]
    assert [refused.status_code, deleted.status_code] == [403, 403]
    with shop.scope():
        larger.refresh_from_db()
    assert larger.scopes == ["write_orders"]


@pytest.mark.parametrize("role", ["owner", "manager"])
def test_member_changes_and_removes_nobody_with_more_rights(shop, client_with, staff_of, role):
    client, other = client_with("write_staff", "read_orders"), staff_of(shop, role=role)
    row = membership_of(shop, other)

    answers = [
        client.post(f"{MEMBERS}{row.pk}/change/", {"role": "read_only"}),
        client.post(f"{MEMBERS}{row.pk}/delete/", {"post": "yes"}),
    ]
    client.post(
        MEMBERS, {"action": "delete_selected", "_selected_action": [row.pk], "index": 0, "post": "yes"}
    )

    assert [answer.status_code for answer in answers] == [403, 403]
    assert membership_of(shop, other).role == role


def test_operations_refuse_what_the_pages_do_not_offer(shop, staff_of):
    member, owner = (membership_of(shop, staff_of(shop, role=role)) for role in ("read_only", "owner"))
    grantor = type(UNLIMITED)(frozenset({"write_staff"}))

    with shop.scope():
        for role in ("owner", "read_only"):
            with pytest.raises(InsufficientScope):
                change_role(grantor=grantor, membership_id=member.pk, role=role)
        with pytest.raises(InsufficientScope):
            remove_member(grantor=grantor, membership_id=owner.pk)
        with pytest.raises(ValidationFailed):
            change_role(grantor=UNLIMITED, membership_id=member.pk, role="999")


def test_role_of_another_shop_can_not_be_given(shop, other_shop, owner):
    foreign = make_role(other_shop, "read_orders")

    answer = owner.fill(f"{INVITATIONS}add/", email="bea@example.com", role=str(foreign.pk))

    assert list(answer.context["adminform"].form.errors) == ["role"]
    with shop.scope(), pytest.raises(IntegrityError, match="staff_memberships_own_role_id_fk"):
        StaffMembership.objects.create(account_id=shop.id, user=make_user(), role=str(foreign.pk))
    with shop.scope(), pytest.raises(ValidationFailed):
        add_member(account_id=shop.id, user_id=make_user().pk, role=str(foreign.pk))
    with shop.scope():
        assert not StaffInvitation.objects.exists()


def test_role_that_somebody_has_is_not_deleted(shop, owner):
    role = make_role(shop, "read_orders")
    make_staff(shop, role=str(role.pk))

    owner.post(f"{ROLES}{role.pk}/delete/", {"post": "yes"})

    with shop.scope():
        assert StaffRole.objects.filter(pk=role.pk).exists()


def test_scopes_of_a_role_count_from_the_next_request_on(shop, client_with):
    client = client_with("read_orders")
    with shop.scope():
        StaffRole.objects.update(scopes=["read_products"])

    assert statuses(client, path_of(Order), path_of(Product)) == [403, 200]


def test_last_owner_stays(shop, operator, owner):
    row = membership_of(shop, owner)

    changed = operator.fill(f"{MEMBERS}{row.pk}/change/", role="manager")
    operator.post(f"{MEMBERS}{row.pk}/delete/", {"post": "yes"})

    assert changed.context["adminform"].form.non_field_errors() == [
        "The shop needs an owner: make somebody else one first"
    ]
    assert membership_of(shop, owner).role == "owner"


def test_owner_who_can_not_log_in_is_no_other_owner(shop, operator, owner, staff_of):
    other = staff_of(shop)
    other.user.is_active = False
    other.user.save()

    operator.post(f"{MEMBERS}{membership_of(shop, owner).pk}/delete/", {"post": "yes"})

    assert membership_of(shop, owner).role == "owner"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("act", ["change", "delete"])
def test_owners_who_take_each_others_rights_at_once_leave_one(shop, act):
    clients = [make_staff(shop) for _ in range(4)]
    rows = [membership_of(shop, client) for client in clients]

    def take_next(number):
        path = f"{MEMBERS}{rows[(number + 1) % 4].pk}/{act}/"
        fields = {"post": "yes"} if act == "delete" else {"role": "manager"}
        return clients[number].post(path, fields)

    run_threads(4, take_next)

    with shop.scope():
        assert StaffMembership.objects.filter(role="owner").count() >= 1


@pytest.mark.django_db(transaction=True)
def test_owners_removed_at_once_by_operations_leave_one(shop):
    rows = [membership_of(shop, make_staff(shop)) for _ in range(4)]

    def remove(number):
        try:
            with shop.scope():
                remove_member(grantor=UNLIMITED, membership_id=rows[number].pk)
        except Refusal as refusal:
            return refusal.code
        return "removed"

    assert sorted(run_threads(4, remove)) == ["last_owner", "removed", "removed", "removed"]
