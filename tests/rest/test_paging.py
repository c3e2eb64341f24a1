"""Lists: newest first, in pages without gaps or repetitions."""

import pytest
from django.db import connection

from tests import factories


@pytest.fixture
def zones(shop):
    """Create seven zones, oldest first."""
    return [factories.make_zone(shop) for _ in range(7)]


def page(shop, query=""):
    answer = shop.admin.get(f"shipping/zones.json{query}").json()
    return [int(zone["id"]) for zone in answer["zones"]], answer["next_cursor_id"]


def test_list_is_newest_first_with_the_cursor_of_the_next_page(shop, zones):
    ids = [zone.pk for zone in reversed(zones)]

    assert page(shop) == (ids, None)
    assert page(shop, "?limit=3") == (ids[:3], str(ids[2]))
    assert page(shop, f"?limit=3&cursor_id={ids[2]}") == (ids[3:6], str(ids[5]))
    assert page(shop, f"?limit=3&cursor_id={ids[5]}") == (ids[6:], None)


def test_last_page_that_is_full_has_no_cursor(shop, zones):
    ids = [zone.pk for zone in reversed(zones)]

    assert page(shop, "?limit=7") == (ids, None)


def test_list_that_is_empty_has_no_cursor(shop):
    assert page(shop) == ([], None)


def test_row_that_comes_in_between_moves_no_page(shop, zones):
    ids = [zone.pk for zone in reversed(zones)]
    _, cursor = page(shop, "?limit=3")

    factories.make_zone(shop)

    assert page(shop, f"?limit=3&cursor_id={cursor}") == (ids[3:6], str(ids[5]))


def test_cursor_of_a_row_that_is_gone_or_another_accounts_still_says_where(shop, other_shop, zones):
    foreign = factories.make_zone(other_shop)
    ids = [zone.pk for zone in reversed(zones)]
    shop.admin.delete(f"shipping/zones/{ids[2]}.json")

    assert page(shop, f"?cursor_id={ids[2]}") == (ids[3:], None)
    assert page(shop, f"?cursor_id={foreign.pk}") == ([*ids[:2], *ids[3:]], None)


def test_limit_is_fifty_unless_given_and_never_past_two_hundred_and_fifty(shop):
    for _ in range(260):
        factories.make_zone(shop)

    assert len(page(shop)[0]) == 50
    assert len(page(shop, "?limit=250")[0]) == 250
    assert len(page(shop, "?limit=251")[0]) == 250
    assert len(page(shop, "?limit=999999")[0]) == 250


@pytest.mark.parametrize("rows", [1, 3])
def test_list_takes_as_many_statements_for_one_row_as_for_three(shop, rows, django_assert_num_queries):
    for _ in range(rows):
        factories.make_zone(shop)
    shop.admin.get("shipping/zones.json")

    with django_assert_num_queries(5):  # savepoint, scope, the rows, savepoint, the scope's end
        shop.admin.get("shipping/zones.json")


def test_admin_lists_are_planned_for_the_account_and_its_filters(shop):
    """Otherwise a frequent one gets a plan for any of them, which reads all rows if one shop has nearly all."""
    zone = factories.make_zone(shop)

    for _ in range(5):
        assert page(shop) == ([zone.pk], None)
        assert shop.admin.get(f"shipping/zones/{zone.pk}.json").status_code == 200

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%FROM \"shipping_zones\"%'"
        )
        prepared = [sql for (sql,) in cursor.fetchall()]
    # A zone that is read by its id has the same plan in all shops.
    assert len(prepared) == 1
    assert '"shipping_zones"."id" = $' in prepared[0]


def test_path_that_takes_only_post_is_not_read(shop):
    answer = shop.admin.get("inventory_levels/adjust.json")

    assert (answer.status_code, answer["Allow"]) == (405, "POST")
