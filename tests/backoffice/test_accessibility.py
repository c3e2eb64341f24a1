"""Every page of the back office in a real browser: axe finds nothing serious, in light and dark colours, and on a
narrow screen. Pages are those of the site's URLs, so new ones are covered automatically.
"""

from collections.abc import Iterator

import pytest
from django.conf import settings
from django.contrib import admin
from django.db.models import Model
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse
from django.utils import timezone
from playwright.sync_api import expect, sync_playwright

from accounts.models import StaffInvitation, User
from accounts.operations import UNLIMITED, invite_member
from accounts.operations.invitations import make_token
from accounts.operations.passwords import make_reset_link
from commerce.catalog.models import Product, Variant
from commerce.customers.models import Customer
from commerce.orders.models import Order
from tests import factories
from tests.backoffice.clients import ROOT
from tests.backoffice.visitor import WIDE, Visitor
from tests.browsers import launch
from tests.rows import make_rows
from tests.storefront import cart_with, checkout_in

pytestmark = pytest.mark.django_db(transaction=True)

APPS = sorted({model._meta.app_label for model in admin.site._registry})
MODELS = {f"{model._meta.app_label}/{model._meta.model_name}": model for model in admin.site._registry}
PASSWORD = "correct horse battery"
_TIMEOUT_MS = 60_000
# Addresses that are no pages: data for scripts, the end of a session, and redirects.
NO_PAGES = {"autocomplete", "jsi18n", "view_on_site", "logout", "app_list"}


def list_routes(patterns, prefix="") -> Iterator[tuple[str, URLPattern]]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from list_routes(pattern.url_patterns, route)
        elif pattern.name is not None and pattern.name not in NO_PAGES:
            yield route, pattern


def list_paths(rows) -> Iterator[str]:
    """List the path of every page, with ids of `rows` in it.

    Histories and deletions look the same for all rows, so one of each app is enough.
    """
    alike: set[tuple[str, str]] = set()
    arguments = {
        "id": rows[User].pk,
        "template_key": "order.confirmation",
        "locale": "de",
        "token": make_token(rows[StaffInvitation]),
    }
    for route, pattern in list_routes(admin.site.get_urls()):
        if pattern.name == "password_reset_confirm":
            yield make_reset_link(rows[User]).removeprefix(settings.BASE_URL)
            continue
        if (kind := route.split("/")[-2:-1]) in (["history"], ["delete"]):
            key = (route.split("/")[0], kind[0])
            if key in alike:
                continue
            alike.add(key)
        model = MODELS.get("/".join(route.split("/")[:2]))
        row_id = {} if model is None else {"object_id": rows[model].pk}
        given = {name: (arguments | row_id)[name] for name in pattern.pattern.converters}
        yield reverse(f"admin:{pattern.name}", kwargs=given)


@pytest.fixture(scope="module")
def browser_page():
    """One page for all tests of this file: a start of the browser takes longer than most pages."""
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright runs an event loop in this thread, which Django would mistake for asynchronous code.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = launch(playwright)
        page = browser.new_page(viewport=WIDE)
        page.set_default_timeout(_TIMEOUT_MS)
        Visitor.prepare(page)
        expect.set_options(timeout=_TIMEOUT_MS)
        yield page
        browser.close()


@pytest.fixture
def rows(shop, owner) -> dict[type[Model], Model]:
    """A row of each kind, with a sale among them."""
    variant = factories.make_variant(shop, stock=9)
    factories.make_discount(shop, title="Ten", code="TEN")
    checkout_in("completed", shop, (variant, 2))
    factories.make_pickup_point()
    with shop.scope():
        invite_member(grantor=UNLIMITED, email="bea@example.com", role="manager", now=timezone.now())
        rows = {**make_rows(), User: owner.user}
        for model in admin.site._registry:
            rows.setdefault(model, model._base_manager.order_by("pk").first())
    return rows


@pytest.fixture
def visitor(browser_page, live_server, owner) -> Iterator[Visitor]:
    visitor = Visitor(browser_page, live_server.url)
    visitor.use_session(owner.browser)
    yield visitor
    visitor.close()


@pytest.mark.parametrize("app", APPS)
def test_pages_of_rows(app, visitor, rows):
    statuses = {}
    for path in list_paths(rows):
        if path.startswith(f"{ROOT}{app}/"):
            statuses[path] = visitor.visit(path)
    for name, model in MODELS.items():
        for bulk in getattr(admin.site._registry[model], "bulk_actions", ()):
            if name.startswith(f"{app}/"):
                visitor.visit(f"{ROOT}{name}/")
                visitor.choose_action(bulk.name)

    assert visitor.mistakes == []
    lists = {f"{ROOT}{name}/" for name in MODELS if name.startswith(f"{app}/")}
    assert lists - {f"{ROOT}accounts/user/"} <= {path for path, status in statuses.items() if status == 200}


def test_pages_of_an_operator(visitor, operator, rows):
    visitor.use_session(operator.browser)
    for path in list_paths(rows):
        if path.startswith((f"{ROOT}accounts/user/", f"{ROOT}accounts/account/")):
            visitor.visit(path)

    assert visitor.mistakes == []
    assert f"{ROOT}accounts/user/{rows[User].pk}/change/" in visitor.seen


@pytest.mark.parametrize("is_logged_in", [True, False])
def test_pages_without_rows(is_logged_in, visitor, rows):
    if not is_logged_in:
        visitor.use_session(Client())
    for path in list_paths(rows):
        if path.removeprefix(ROOT).split("/")[0] not in APPS:
            visitor.visit(path, narrow=True)

    assert visitor.mistakes == []
    seen = {path.removeprefix(ROOT).split("/")[0] for path in visitor.seen}
    own = {"", "search", "account", "password_change"} if is_logged_in else {"login", "password-reset"}
    assert seen >= own | {"invitation"}


def test_pages_that_are_filled_in(visitor, owner, rows, shop):
    """The shop's own pages with something on them, also on a narrow screen."""
    owner.post("orders/order/saved-filters/", {"name": "Open", "query": "status__exact=open"})
    parcel = (
        f"market={shop.market.pk}&country_code=DE&zip=10115&weight_grams=1200&subtotal_cents=20.00&quantity=2"
    )
    for path in (
        "?days=7",
        "search/?s=ada",
        "search/?s=nothing",
        "orders/order/?status__exact=open",
        "orders/order/?q=nothing",
        f"orders/order/{rows[Order].pk}/change/",
        f"customers/customer/{rows[Customer].pk}/change/",
        f"catalog/product/{rows[Product].pk}/change/",
        f"checkouts/checkout/try-discounts/?cart={cart_with(shop, (rows[Variant], 2))}&codes=TEN,nope",
        f"shipping/shippingzone/test/?{parcel}&currency=",
        "emails/emaildelivery/statistics/",
        "emails/emailtemplateversion/",
        "emails/emailtemplateversion/order.confirmation/de/edit/",
        "configuration/accountsetting/",
        "backoffice/staffaction/",
    ):
        assert visitor.visit(ROOT + path, narrow=True) == 200, path

    assert visitor.mistakes == []


@pytest.mark.parametrize("language", ["de", "cs"])
def test_pages_in_other_languages(visitor, owner, rows, language):
    """Longer words fit, and a screen reader is told the language."""
    User.objects.filter(pk=owner.user.pk).update(language=language)
    for path in (
        "",
        "orders/order/",
        f"orders/order/{rows[Order].pk}/change/",
        f"customers/customer/{rows[Customer].pk}/change/",
        f"catalog/product/{rows[Product].pk}/change/",
        "catalog/variant/prices/",
        "discounts/discount/add/",
        "discounts/voucher/",
        "shipping/shippingmethod/add/",
        "accounts/staffrole/add/",
        "configuration/accountsetting/",
        "security/",
    ):
        assert visitor.visit(ROOT + path, narrow=True) == 200, path
        assert visitor.page.locator("html").get_attribute("lang") == language

    assert visitor.mistakes == []


@pytest.mark.parametrize("grid", ["catalog/variant/prices/", "inventory/inventorylevel/grid/"])
def test_grid_and_its_preview(visitor, rows, grid):
    visitor.visit(ROOT + grid, narrow=True)
    cell = visitor.page.locator(".grid-input").first
    cell.fill("nonsense")
    visitor.press("Review changes", narrow=True)
    visitor.page.locator(".grid-input").first.fill("7")
    visitor.press("Review changes", narrow=True)
    visitor.press("Save")

    assert visitor.mistakes == []


def test_result_of_an_action_on_rows(visitor, rows):
    visitor.visit(f"{ROOT}catalog/product/")
    visitor.choose_action("archive")
    visitor.press("Archive", narrow=True)

    assert visitor.mistakes == []


def test_search_box(visitor, rows):
    visitor.visit(ROOT)
    visitor.page.keyboard.press("Control+k")
    visitor.page.keyboard.type("ada")
    expect(visitor.page.get_by_role("option").first).to_be_visible()
    visitor.inspect("search", narrow=True)
    visitor.page.keyboard.type("nobody")
    expect(visitor.page.get_by_role("option")).to_have_count(0)
    visitor.inspect("search without findings")

    assert visitor.mistakes == []


def test_setting_up_the_second_step(visitor, owner, rows):
    owner.user.set_password(PASSWORD)
    owner.user.save()
    owner.browser.force_login(owner.user)
    visitor.use_session(owner.browser)
    visitor.visit(f"{ROOT}security/", narrow=True)
    visitor.page.get_by_label("Your password").fill(PASSWORD)
    visitor.press("Continue", narrow=True)
    visitor.page.get_by_label("Name of the device").fill("Phone")
    visitor.press("Add an authenticator app", narrow=True)

    assert visitor.mistakes == []
