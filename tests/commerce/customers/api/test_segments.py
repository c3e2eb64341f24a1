"""segments.json and segments/{id}.json."""

import pytest

from commerce.customers.models import Segment
from commerce.formats import timestamp
from tests.commerce.refusals import field_errors, refusal

VIPS = {"handle": "vips", "name": "VIPs", "filter": {"all": [{"field": "tag", "op": "eq", "value": "vip"}]}}


def segments_of(shop):
    with shop.scope():
        return list(Segment.objects.order_by("pk").values_list("handle", "filter"))


@pytest.fixture
def segment(shop):
    with shop.scope():
        return Segment.objects.create(**VIPS)


def test_create_segment_answers_all_fields(shop):
    answer = shop.admin.post("segments.json", VIPS)

    assert answer.status_code == 201
    with shop.scope():
        row = Segment.objects.get()
    assert answer.json()["segment"] == VIPS | {
        "id": str(row.pk),
        "created_at": timestamp(row.created_at),
        "updated_at": timestamp(row.updated_at),
    }


def test_create_segment_keeps_values_in_one_form(shop):
    conditions = [
        {"field": "country_code", "op": "in", "value": ["de", "AT"]},
        {"field": "email_domain", "op": "neq", "value": "Example.com"},
        {"field": "total_spent_cents", "op": "gte", "value": "10000"},
        {"field": "created_at", "op": "lte", "value": "2026-11-20T01:00:00+01:00"},
        {"field": "orders_count", "op": "in", "value": [1, 2], "comment": "dropped"},
    ]

    answer = shop.admin.post("segments.json", VIPS | {"filter": {"all": conditions}})

    assert answer.json()["segment"]["filter"]["all"] == [
        {"field": "country_code", "op": "in", "value": ["DE", "AT"]},
        {"field": "email_domain", "op": "neq", "value": "example.com"},
        {"field": "total_spent_cents", "op": "gte", "value": 10_000},
        {"field": "created_at", "op": "lte", "value": "2026-11-20T00:00:00Z"},
        {"field": "orders_count", "op": "in", "value": [1, 2]},
    ]


@pytest.mark.parametrize(
    ("condition", "field", "code"),
    [
        ({}, "field", "required"),
        ({"field": "age", "op": "eq", "value": 1}, "field", "invalid_choice"),
        ({"field": "tag", "op": "like", "value": "v"}, "op", "invalid_choice"),
        ({"field": "tag", "op": "gte", "value": "v"}, "op", "op_not_allowed"),
        ({"field": "country_code", "op": "lte", "value": "DE"}, "op", "op_not_allowed"),
        ({"field": "tag", "op": "eq"}, "value", "required"),
        ({"field": "tag", "op": "eq", "value": None}, "value", "null"),
        ({"field": "tag", "op": "eq", "value": 5}, "value", "invalid"),
        ({"field": "tag", "op": "eq", "value": ["vip"]}, "value", "invalid"),
        ({"field": "tag", "op": "in", "value": "vip"}, "value", "not_a_list"),
        ({"field": "tag", "op": "in", "value": []}, "value", "empty"),
        ({"field": "tag", "op": "in", "value": ["vip", 5]}, "value.1", "invalid"),
        ({"field": "tag", "op": "in", "value": ["v"] * 101}, "value", "max_length"),
        ({"field": "email_domain", "op": "eq", "value": "a@example.com"}, "value", "invalid_domain"),
        ({"field": "country_code", "op": "eq", "value": "XX"}, "value", "unknown_country"),
        ({"field": "orders_count", "op": "gte", "value": "3"}, "value", "invalid"),
        ({"field": "orders_count", "op": "gte", "value": -1}, "value", "min_value"),
        ({"field": "total_spent_cents", "op": "gte", "value": 1.5}, "value", "invalid"),
        ({"field": "created_at", "op": "gte", "value": "yesterday"}, "value", "invalid"),
        ({"field": "created_at", "op": "gte", "value": "2026-11-20T00:00:00"}, "value", "no_offset"),
        ({"field": "created_at", "op": "lte", "value": "0001-01-01T00:00:00+14:00"}, "value", "overflow"),
    ],
)
def test_create_segment_refuses_bad_conditions(shop, condition, field, code):
    good = VIPS["filter"]["all"][0]

    answer = shop.admin.post("segments.json", VIPS | {"filter": {"all": [good, condition]}})

    assert (f"filter.all.1.{field}", code) in field_errors(answer)
    assert segments_of(shop) == []


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"handle": "V I P"}, "handle", "invalid_handle"),
        ({"name": ""}, "name", "blank"),
        ({"filter": None}, "filter", "null"),
        ({"filter": []}, "filter", "invalid"),
        ({"filter": {}}, "filter.all", "required"),
        ({"filter": {"all": {}}}, "filter.all", "not_a_list"),
        ({"filter": {"all": ["tag"]}}, "filter.all.0", "invalid"),
        ({"filter": {"all": VIPS["filter"]["all"] * 21}}, "filter.all", "max_length"),
    ],
)
def test_create_segment_refuses_bad_fields(shop, changes, field, code):
    answer = shop.admin.post("segments.json", VIPS | changes)

    assert field_errors(answer) == [(field, code)]
    assert segments_of(shop) == []


def test_create_segment_refuses_a_taken_handle(shop, segment):
    answer = shop.admin.post("segments.json", VIPS | {"name": "Others"})

    assert refusal(answer) == (409, "handle_taken")
    assert len(segments_of(shop)) == 1


@pytest.mark.parametrize("number", [1, 3])
def test_list_segments_is_newest_first(shop, django_assert_num_queries, number):
    for index in range(number):
        shop.admin.post("segments.json", VIPS | {"handle": f"vips-{index}"})

    with django_assert_num_queries(5):
        answer = shop.admin.get("segments.json")

    assert [segment["handle"] for segment in answer.json()["segments"]] == [
        f"vips-{index}" for index in reversed(range(number))
    ]


def test_update_segment_changes_only_what_is_sent(shop, segment):
    answer = shop.admin.put(f"segments/{segment.pk}.json", {"filter": {"all": []}})

    assert answer.status_code == 200
    assert segments_of(shop) == [("vips", {"all": []})]
    assert shop.admin.get(f"segments/{segment.pk}.json").json() == answer.json()


def test_update_segment_refuses_half_a_condition(shop, segment):
    answer = shop.admin.put(f"segments/{segment.pk}.json", {"filter": {"all": [{"field": "tag"}]}})

    assert field_errors(answer) == [("filter.all.0.op", "required"), ("filter.all.0.value", "required")]
    assert segments_of(shop) == [("vips", VIPS["filter"])]


def test_delete_segment_is_final(shop, segment):
    answer = shop.admin.delete(f"segments/{segment.pk}.json")

    assert (answer.status_code, answer.content) == (204, b"")
    assert refusal(shop.admin.get(f"segments/{segment.pk}.json")) == (404, "not_found")
    assert refusal(shop.admin.delete(f"segments/{segment.pk}.json")) == (404, "not_found")


@pytest.mark.parametrize("method", ["get", "put", "delete"])
def test_segment_of_another_shop_is_not_found(shop, other_shop, segment, method):
    answer = getattr(other_shop.admin, method)(f"segments/{segment.pk}.json")

    assert refusal(answer) == (404, "not_found")
    assert len(segments_of(shop)) == 1
