"""What each role may see and change, for every page that is registered."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission

from accounts.models import Account, ApiKey, Market, StaffInvitation, StaffMembership, StaffRole, User
from accounts.roles import BUILT_IN_ROLES
from carts.models import Cart
from checkouts.models import Checkout
from commerce.backoffice.models import StaffAction
from commerce.catalog.models import Product, Variant
from commerce.configuration.models import AccountSetting
from commerce.customers.models import Customer, Segment
from commerce.events.models import Event
from commerce.inventory.models import InventoryAdjustment, InventoryLevel, Location
from commerce.orders.models import Order
from commerce.outbox.models import OutboxDispatch
from commerce.taxes.models import TaxRate
from commerce.webhooks.models import WebhookDelivery, WebhookEndpoint
from discounts.models import Discount, DiscountRedemption, Voucher, VoucherRedemption
from emails.models import EmailDelivery, EmailTemplateVersion, SenderDomain
from shipping.models import PickupPoint, ShippingMethod, ShippingZone
from tests import factories
from tests.backoffice.clients import StaffClient, make_staff, make_user

# The roles that see the list of a model, and those that may add rows by a form.
EVERYBODY = {"owner", "manager", "support", "read_only", "operator"}
MANAGERS = {"owner", "manager", "operator"}
OWNERS = {"owner", "operator"}
NOBODY: set[str] = set()
ACCESS = {
    Account: (EVERYBODY, NOBODY),
    AccountSetting: (OWNERS, NOBODY),
    ApiKey: (OWNERS, NOBODY),
    Cart: (EVERYBODY, NOBODY),
    Checkout: (EVERYBODY, NOBODY),
    Customer: (EVERYBODY, MANAGERS | {"support"}),
    Discount: (EVERYBODY, MANAGERS),
    DiscountRedemption: (EVERYBODY, NOBODY),
    EmailDelivery: (EVERYBODY, NOBODY),
    EmailTemplateVersion: (EVERYBODY, NOBODY),
    Event: (EVERYBODY, NOBODY),
    InventoryAdjustment: (EVERYBODY, NOBODY),
    InventoryLevel: (EVERYBODY, NOBODY),
    Location: (EVERYBODY, MANAGERS),
    Market: (EVERYBODY, MANAGERS),
    Order: (EVERYBODY, NOBODY),
    OutboxDispatch: (EVERYBODY, NOBODY),
    PickupPoint: (EVERYBODY, NOBODY),
    Product: (EVERYBODY, MANAGERS),
    Segment: (EVERYBODY, MANAGERS | {"support"}),
    SenderDomain: (EVERYBODY, NOBODY),
    ShippingMethod: (EVERYBODY, MANAGERS),
    ShippingZone: (EVERYBODY, MANAGERS),
    StaffAction: (OWNERS, NOBODY),
    StaffInvitation: (OWNERS, OWNERS),
    StaffMembership: (OWNERS, {"operator"}),
    StaffRole: (OWNERS, OWNERS),
    TaxRate: (EVERYBODY, MANAGERS),
    User: ({"operator"}, {"operator"}),
    Variant: (EVERYBODY, MANAGERS),
    Voucher: (EVERYBODY, NOBODY),
    VoucherRedemption: (EVERYBODY, NOBODY),
    WebhookDelivery: (EVERYBODY, NOBODY),
    WebhookEndpoint: (EVERYBODY, NOBODY),
}


def path_of(model, *parts):
    return "/".join([model._meta.app_label, model._meta.model_name, *map(str, parts), ""])


@pytest.fixture
def by_role(shop):
    """A client of each role, working in the shop."""
    clients = {role: make_staff(shop, role=role) for role in BUILT_IN_ROLES}
    clients["operator"] = StaffClient(make_user(is_superuser=True))
    clients["operator"].choose(shop)
    return clients


def test_every_registered_model_is_in_the_table():
    assert set(admin.site._registry) == set(ACCESS)


@pytest.mark.parametrize("model", ACCESS, ids=lambda model: model._meta.label)
def test_lists_and_forms_are_open_to_these_roles(shop, by_role, model):
    seeing, adding = ACCESS[model]

    lists = {role: client.get(path_of(model)).status_code for role, client in by_role.items()}
    forms = {role: client.get(path_of(model, "add")).status_code for role, client in by_role.items()}

    # The account's list redirects to its only page.
    seen = 302 if model is Account else 200
    assert lists == {role: seen if role in seeing else 403 for role in by_role}
    assert forms == {role: 200 if role in adding else 403 for role in by_role}


@pytest.mark.parametrize("role", [*BUILT_IN_ROLES, "operator"])
def test_sidebar_shows_what_the_role_may_see(by_role, role):
    page = by_role[role].get()

    links = {item["link"] for group in page.context["sidebar_navigation"] for item in group["items"]}
    lists = {f"/backoffice/{path_of(model)}" for model in ACCESS if role in ACCESS[model][0]}
    tools = {"/backoffice/shipping/shippingzone/test/", "/backoffice/checkouts/checkout/try-discounts/"}
    tasks = {link for link in links if "?" in link}
    assert links - tasks == lists | tools | {"/backoffice/"}
    # A task is shown to those who see its list.
    assert {link.partition("?")[0] for link in tasks} <= lists
    assert len(tasks) == 7


def test_support_can_not_change_by_form(shop, support):
    product = factories.make_product(shop, title="Mug")

    answer = support.post(path_of(Product, product.pk, "change"), {"title": "Cup"})

    assert answer.status_code == 403
    with shop.scope():
        assert Product.objects.get().title == "Mug"


def test_support_can_not_add(shop, support):
    answer = support.post(path_of(TaxRate, "add"), {"country_code": "DE", "tax_class": "x", "rate_bp": 1})

    assert answer.status_code == 403
    with shop.scope():
        assert not TaxRate.objects.exists()


def test_support_can_not_delete(shop, support):
    rate = factories.make_tax_rate(shop)

    answers = [
        support.post(path_of(TaxRate, rate.pk, "delete"), {"post": "yes"}),
        support.act(path_of(TaxRate), "delete_selected", rate.pk),
    ]

    assert [answer.status_code for answer in answers] == [403, 302]
    with shop.scope():
        assert TaxRate.objects.filter(pk=rate.pk).exists()


def test_support_can_not_run_an_action_of_a_list(shop, support):
    product = factories.make_product(shop)

    support.act(path_of(Product), "archive", product.pk)
    answer = support.act_on_all(path_of(Product), "archive", product.pk)

    assert answer.status_code == 403
    with shop.scope():
        assert Product.objects.get().status == "active"


def test_support_can_not_open_or_send_any_dialog(shop, support):
    level = factories.set_stock(shop, factories.make_variant(shop, stock=None), 5)
    path = path_of(InventoryLevel, level.pk, "adjust")

    answers = [support.get(path), support.confirm(path, delta=5, reason="count")]

    assert [answer.status_code for answer in answers] == [403, 403]
    with shop.scope():
        assert InventoryLevel.objects.get().on_hand == 5


def test_staff_can_not_issue_keys(shop, staff_of):
    client = staff_of(shop, role="manager")

    answer = client.confirm(path_of(ApiKey, "issue"), kind="admin", name="CI")

    assert answer.status_code == 403
    with shop.scope():
        assert ApiKey.objects.count() == 2


def test_staff_can_not_change_settings(shop, staff_of):
    client = staff_of(shop, role="manager")

    answer = client.post(path_of(AccountSetting), {"commerce.checkout.session_ttl_minutes": "7"})

    assert answer.status_code == 403
    with shop.scope():
        assert not AccountSetting.objects.exists()


def test_role_counts_from_the_next_request_on(shop, owner):
    with shop.scope():
        StaffMembership.objects.filter(user=owner.user).update(role="read_only")

    assert owner.get(path_of(ApiKey)).status_code == 403
    assert owner.get(path_of(Product, "add")).status_code == 403


def test_django_permissions_of_a_user_open_nothing(shop, support):
    support.user.user_permissions.set(Permission.objects.all())

    answers = [support.get(path_of(model)) for model in (User, ApiKey, AccountSetting)]

    assert [answer.status_code for answer in answers] == [403, 403, 403]
