import re

import pytest
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.test import Client, RequestFactory
from django.utils import timezone

from accounts.models import StaffMembership, User
from accounts.operations import archive_account, set_suspended
from commerce.catalog.models import Product
from commerce.tenancy.scope import workspace_scope
from tests import factories
from tests.backoffice.clients import StaffClient, filled, make_operator, make_staff, make_user

PRODUCTS = "catalog/product/"


def test_page_without_login_leads_to_the_login(shop):
    answer = Client().get("/backoffice/catalog/product/")

    assert answer.status_code == 302
    assert answer["Location"] == "/backoffice/login/?next=/backoffice/catalog/product/"


def test_login_of_a_member_of_one_shop_leads_into_it(shop):
    user = make_user(username="ann", password="correct horse")
    with shop.scope():
        StaffMembership.objects.create(account_id=shop.id, user=user, role="manager")
    browser = Client()

    answer = browser.post("/backoffice/login/", {"username": "ann", "password": "correct horse"}, follow=True)

    assert answer.redirect_chain == [("/backoffice/", 302)]
    assert answer.context["site_subheader"] == f"{shop.handle} · Manager"


def test_login_with_a_wrong_password_is_refused(shop):
    make_user(username="ann", password="correct horse")
    browser = Client()

    answer = browser.post("/backoffice/login/", {"username": "ann", "password": "wrong"})

    assert answer.status_code == 200
    assert "_auth_user_id" not in browser.session


def test_user_who_is_not_staff_is_led_to_the_login(shop):
    client = StaffClient(make_user(is_staff=False))
    with shop.scope():
        StaffMembership.objects.create(account_id=shop.id, user=client.user, role="owner")

    answer = client.get()

    assert answer["Location"] == "/backoffice/login/?next=/backoffice/"


def test_member_of_several_shops_chooses_one(shop, other_shop):
    client = make_staff(shop, other_shop)
    client.browser.session.flush()
    client = StaffClient(client.user)

    asked = client.get(PRODUCTS)
    chooser = client.get("account/", next="/backoffice/catalog/product/")
    chosen = client.post("account/", {"account_id": other_shop.id, "next": "/backoffice/catalog/product/"})

    assert asked["Location"] == "/backoffice/account/?next=%2Fbackoffice%2Fcatalog%2Fproduct%2F"
    assert {membership.account_id for membership in chooser.context["memberships"]} == {
        shop.id,
        other_shop.id,
    }
    assert chosen["Location"] == "/backoffice/catalog/product/"
    assert client.browser.session["account_id"] == other_shop.id


def test_user_without_any_shop_is_told_so(db):
    client = StaffClient(make_user())

    asked = client.get()
    answer = client.get("account/")

    assert asked["Location"] == "/backoffice/account/?next=%2Fbackoffice%2F"
    assert answer.status_code == 403
    assert b"You are not on the staff of any shop." in answer.content


def test_choice_never_leads_to_another_site(shop, owner):
    answer = owner.post("account/", {"account_id": shop.id, "next": "https://evil.example/"})

    assert answer["Location"] == "/backoffice/"


def test_choice_of_a_foreign_shop_is_refused(shop, other_shop, owner):
    answer = owner.choose(other_shop)

    assert answer.status_code == 404
    assert owner.browser.session["account_id"] == shop.id


@pytest.mark.parametrize("account_id", ["", "0", "-1", "1e3", "x", "9" * 30, "\0"])
def test_choice_of_nonsense_is_refused(shop, owner, account_id):
    answer = owner.post("account/", {"account_id": account_id})

    assert answer.status_code == 404
    assert owner.browser.session["account_id"] == shop.id


def test_choice_needs_the_csrf_token(shop, other_shop):
    client = make_staff(shop, other_shop, enforce_csrf_checks=True)

    answer = client.choose(other_shop)

    assert answer.status_code == 403
    assert client.browser.session["account_id"] == shop.id


def test_choice_by_get_changes_nothing(shop, other_shop):
    client = make_staff(shop, other_shop)

    client.get("account/", account_id=other_shop.id)

    assert client.browser.session["account_id"] == shop.id


def test_session_that_names_a_foreign_shop_shows_nothing_of_it(shop, other_shop, owner):
    product = factories.make_product(other_shop)
    session = owner.browser.session
    session["account_id"] = other_shop.id
    session.save()

    answer = owner.get(f"{PRODUCTS}{product.pk}/change/")

    assert answer["Location"].startswith("/backoffice/account/")


def test_form_without_csrf_token_changes_nothing(shop):
    client = make_staff(shop, enforce_csrf_checks=True)

    answer = client.post(f"{PRODUCTS}add/", {"handle": "mug", "title": "Mug", "status": "active"})

    assert answer.status_code == 403
    with shop.scope():
        assert not Product.objects.exists()


def test_form_opened_before_a_switch_is_refused_after_it(shop, other_shop):
    client = make_staff(shop, other_shop, enforce_csrf_checks=True)
    form = client.get(f"{PRODUCTS}add/")
    token = {"csrfmiddlewaretoken": form.context["csrf_token"]}
    client.post("account/", token | {"account_id": other_shop.id})

    answer = client.post(f"{PRODUCTS}add/", filled(form) | token | {"handle": "mug", "title": "Mug"})

    assert client.browser.session["account_id"] == other_shop.id
    assert answer.status_code == 403
    with other_shop.scope():
        assert not Product.objects.exists()


def test_revoked_member_is_out_at_the_next_request(shop, owner):
    product = factories.make_product(shop)
    assert owner.get(f"{PRODUCTS}{product.pk}/change/").status_code == 200
    with shop.scope():
        StaffMembership.objects.filter(user=owner.user).delete()

    answer = owner.get(f"{PRODUCTS}{product.pk}/change/")

    assert answer["Location"].startswith("/backoffice/account/")
    assert owner.get("account/").status_code == 403


def test_revoked_member_is_not_moved_to_another_shop_with_a_form_in_hand(shop, other_shop):
    client = make_staff(shop, other_shop)
    with shop.scope():
        StaffMembership.objects.filter(user=client.user).delete()

    answer = client.post(f"{PRODUCTS}add/", {"handle": "mug", "title": "Mug", "status": "active"})

    assert answer["Location"].startswith("/backoffice/account/")
    with other_shop.scope():
        assert not Product.objects.exists()


def test_deactivated_user_is_out_at_the_next_request(shop, owner):
    User.objects.filter(pk=owner.user.pk).update(is_active=False)

    answer = owner.get(PRODUCTS)

    assert answer["Location"].startswith("/backoffice/login/")


def test_suspended_shop_is_open_to_its_staff_for_reading(shop, owner):
    product = factories.make_product(shop)
    _suspend(shop)

    page = owner.get(f"{PRODUCTS}{product.pk}/change/")
    answer = owner.post(f"{PRODUCTS}{product.pk}/change/", {"title": "Changed"})

    assert page.status_code == 200
    assert answer.status_code == 403
    with shop.scope():
        assert Product.objects.get().title == product.title


def test_suspended_shop_can_be_changed_by_an_operator(shop, operator):
    product = factories.make_product(shop)
    _suspend(shop)

    operator.fill(f"{PRODUCTS}{product.pk}/change/", title="Changed")

    with shop.scope():
        assert Product.objects.get().title == "Changed"


def test_archived_shop_is_closed_to_everybody(shop, owner, operator):
    with workspace_scope(shop.workspace_id):
        archive_account(account_id=shop.id, now=timezone.now())

    answers = [client.get(PRODUCTS) for client in (owner, operator)]

    assert [answer["Location"][:20] for answer in answers] == ["/backoffice/account/"] * 2
    assert operator.choose(shop).status_code == 404


def test_operator_chooses_any_shop(shop, other_shop):
    client = make_operator()

    client.choose(other_shop)

    assert client.get().context["site_subheader"] == f"{other_shop.handle} · Operator"


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("tea", ["green-tea", "tea-house"]),
        ("TEA-H", ["tea-house"]),
        ("%", []),
        ("_", []),
        ("\\", []),
        ("\0", []),
    ],
)
def test_operator_searches_shops_by_name_or_handle(make_shop, search, found):
    for handle in ("green-tea", "tea-house", "coffee"):
        make_shop(handle=handle)
    client = make_operator()

    answer = client.get("account/", q=search)

    handles = sorted(membership.handle for membership in answer.context["memberships"])
    assert handles == (found if search != "\0" else ["coffee", "green-tea", "tea-house"])


def test_password_change_needs_no_shop(db):
    client = StaffClient(make_user(password="correct horse"))
    passwords = {
        "old_password": "correct horse",
        "new_password1": "battery staple",
        "new_password2": "battery staple",
    }

    page = client.get("password_change/")
    answer = client.post("password_change/", passwords)

    assert page.status_code == 200
    assert answer["Location"] == "/backoffice/password_change/done/"
    client.user.refresh_from_db()
    assert client.user.check_password("battery staple")


def test_logout_needs_no_shop(db):
    client = StaffClient(make_user())

    client.post("logout/")

    assert client.get("account/")["Location"].startswith("/backoffice/login/")


@pytest.mark.parametrize("path", ["/admin/", "/backoffice"])
def test_other_addresses_lead_to_the_back_office(db, path):
    answer = Client().get(path)

    assert (answer.status_code, answer["Location"]) == (302, "/backoffice/")


def test_unknown_address_is_a_page_of_its_own(owner):
    answer = owner.get("nowhere/")

    assert answer.status_code == 404
    assert "This page doesn&#x27;t exist in this shop." in answer.text


def test_pages_let_the_browser_fetch_nothing_from_outside(shop, owner):
    product = factories.make_product(shop)

    for page in (
        owner.get(),
        owner.get(f"{PRODUCTS}{product.pk}/change/"),
        Client().get("/backoffice/login/"),
    ):
        assert page["Content-Security-Policy"].startswith("default-src 'self';")
        assert not re.search(r"""(src|href)=["'](https?:)?//""", page.content.decode())


def test_page_that_breaks_keeps_nothing_of_its_work(shop, owner):
    def broken(request):
        factories.make_product(shop)
        raise ZeroDivisionError

    request = RequestFactory().get("/backoffice/broken/")
    request.user, request.session = owner.user, owner.browser.session

    with pytest.raises(ZeroDivisionError):
        admin.site.admin_view(broken)(request)

    with shop.scope():
        assert not Product.objects.exists()


def test_page_that_is_refused_keeps_nothing_of_its_work(shop, owner):
    def refused(request):
        factories.make_product(shop)
        raise PermissionDenied

    request = RequestFactory().get("/backoffice/refused/")
    request.user, request.session = owner.user, owner.browser.session

    answer = admin.site.admin_view(refused)(request)

    assert answer.status_code == 403
    with shop.scope():
        assert not Product.objects.exists()


def _suspend(shop):
    with workspace_scope(shop.workspace_id):
        set_suspended(account_id=shop.id, suspended=True, now=timezone.now())
