"""Filters that members save as tabs above a list."""

import psycopg
import pytest

from commerce.backoffice.models import SavedFilter
from commerce.backoffice.saved_filters import MOST_OF_MEMBER
from tests.backoffice.clients import make_operator, make_staff, messages_of
from tests.commerce.outbox.test_key_spaces import ACCOUNT
from tests.migrations import migrate, scratch  # noqa: F401  a fixture

LIST = "orders/order/"
SAVE = "orders/order/saved-filters/"
OPEN = "status__exact=open"


def save(client, name="Open", query=OPEN, **fields):
    return client.post(SAVE, {"name": name, "query": query} | fields)


def tabs_of(client, **query):
    """Return name and query of the tabs, and whether they are active."""
    page = client.get(LIST, **query)
    admin = page.context["cl"].model_admin
    with client.shop.scope():
        tabs = admin.list_tabs(page.wsgi_request)
    return [(tab.name, tab.link.partition("?")[2], tab.is_active) for tab in tabs]


@pytest.fixture
def member(shop):
    """Makes members of the shop who have chosen it."""

    def make(role="manager"):
        client = make_staff(shop, role=role)
        client.shop = shop
        return client

    return make


def test_saved_filters_are_a_tab_only_for_the_member(member):
    ann, bob = member(), member()

    answer = save(ann, query="q=ann@example.com&status__exact=open&p=3&market__id__exact=7&counted=1")

    query = "market__id__exact=7&status__exact=open"
    assert answer["Location"] == f"/backoffice/{LIST}?{query}"
    assert tabs_of(ann) == [("Open", query, False)]
    assert tabs_of(ann, status__exact="open", market__id__exact="7") == [("Open", query, True)]
    assert tabs_of(bob) == []
    assert (
        f'href="/backoffice/{LIST}?market__id__exact=7&amp;status__exact=open"'
        in ann.get(LIST).content.decode()
    )


def test_shared_filters_are_a_tab_of_everybody(member):
    ann, support = member(), member("read_only")

    save(ann, is_shared="on")

    assert tabs_of(support) == [("Open", OPEN, False)]


def test_support_saves_for_itself_only(shop, member):
    support = member("read_only")

    save(support, name="Mine")
    refused = save(support, name="Ours", is_shared="on")

    assert messages_of(refused)[-1] == "Your role may save filters for yourself only."
    assert tabs_of(support) == [("Mine", OPEN, False)]


def test_saving_under_the_same_name_replaces(shop, member):
    ann = member()

    save(ann)
    save(ann, query="status__exact=closed")

    assert tabs_of(ann) == [("Open", "status__exact=closed", False)]


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("", OPEN),
        ("x" * 61, OPEN),
        ("\0", OPEN),
        ("Open", ""),
        ("Open", "q=ann"),
        ("Open", f"x={'y' * 1000}"),
    ],
)
def test_filters_without_name_or_conditions_are_refused(shop, member, name, query):
    save(member(), name=name, query=query)

    with shop.scope():
        assert not SavedFilter.objects.exists()


def test_member_saves_a_limited_number(shop, member):
    ann = member()
    for number in range(MOST_OF_MEMBER):
        save(ann, name=f"Filter {number}")

    refused = save(ann, name="One more")
    replaced = save(ann, name="Filter 0", query="status__exact=closed")

    assert "Remove one first." in messages_of(refused)[-1]
    assert messages_of(replaced)[-1] == "The filters are saved as “Filter 0”."
    with shop.scope():
        assert SavedFilter.objects.count() == MOST_OF_MEMBER


def test_own_filters_are_removed(shop, member):
    ann, bob = member("read_only"), member("read_only")
    save(ann)
    with shop.scope():
        pk = SavedFilter.objects.get().pk

    assert bob.post(SAVE, {"remove": pk}).status_code == 404
    assert ann.post(SAVE, {"remove": pk}).status_code == 302
    with shop.scope():
        assert not SavedFilter.objects.exists()


def test_filters_of_another_shop_are_neither_shown_nor_removed(shop, other_shop, member, staff_of):
    save(member(), is_shared="on")
    with shop.scope():
        pk = SavedFilter.objects.get().pk
    stranger = staff_of(other_shop)
    stranger.shop = other_shop

    assert tabs_of(stranger) == []
    assert stranger.post(SAVE, {"remove": pk}).status_code == 404
    with shop.scope():
        assert SavedFilter.objects.exists()


def test_address_answers_only_posts(member):
    assert member().get(SAVE).status_code == 404


@pytest.mark.parametrize(
    ("path", "query", "text"),
    [
        ("orders/order/", {}, "An order appears here as soon as a customer completes a checkout."),
        ("orders/order/", {"status__exact": "open"}, "Nothing matches"),
        ("orders/order/", {"q": "nobody"}, "Nothing matches"),
        ("catalog/product/", {}, "Add the first product, then its variants with prices and stock."),
    ],
)
def test_empty_list_says_why_it_is_empty(member, path, query, text):
    page = member().get(path, **query).content.decode()

    assert text in page
    assert ("Nothing matches" in page) == bool(query)


def test_operators_filters_are_saved_without_their_name(shop, operator, member):
    operator.shop = shop
    other = make_operator()
    other.choose(shop)
    other.shop = shop

    save(operator)

    with shop.scope():
        assert list(SavedFilter.objects.values_list("username", flat=True)) == ["An operator"]
    assert tabs_of(operator) == tabs_of(other) == [("Open", OPEN, False)]
    assert tabs_of(member("owner")) == []


USERS = """
    INSERT INTO users (username, password, is_superuser, first_name, last_name, email, is_staff, is_active,
        date_joined, has_second_step)
    VALUES (%s, '!', %s, '', '', '', true, true, now(), false)
"""
FILTERS = """
    INSERT INTO saved_filters (account_id, page, name, query, username, is_shared, created_at)
    VALUES (1, 'orders.order', %s, %s, %s, false, now())
"""


@pytest.mark.usefixtures("django_db_setup")
def test_filters_that_were_saved_under_operators_names_lose_them(scratch):  # noqa: F811
    migrate(scratch, "backoffice", "0002")
    with psycopg.connect(scratch["superuser"], autocommit=True) as superuser:
        superuser.execute(ACCOUNT)
        superuser.cursor().executemany(USERS, [("root", True), ("admin", True), ("ann", False)])
        saved = [
            ("Open", "a=1", "ann"),
            ("Open", "a=2", "root"),
            ("Open", "a=3", "admin"),
            ("Paid", "a=4", "admin"),
        ]
        superuser.cursor().executemany(FILTERS, saved)

        migrate(scratch)

        rows = superuser.execute("SELECT name, query, username FROM saved_filters ORDER BY id").fetchall()
        forced = superuser.execute("SELECT relforcerowsecurity FROM pg_class WHERE relname = 'saved_filters'")
        assert rows == [
            ("Open", "a=1", "ann"),
            ("Open", "a=2", "An operator"),
            ("Paid", "a=4", "An operator"),
        ]
        assert forced.fetchall() == [(True,)]
