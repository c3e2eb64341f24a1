import pytest

from commerce.backoffice.models import StaffAction
from commerce.customers.models import Customer, Segment
from tests import factories

ADD = "customers/customer/add/"


def errors_of(answer):
    return answer.context["adminform"].form.errors


def test_customer_is_added(shop, owner):
    owner.fill(ADD, email="Ann@Example.com", first_name="Ann", tags="vip, wholesale, vip")

    with shop.scope():
        customer = Customer.objects.get()
    assert (customer.email, customer.normalised_email) == ("Ann@Example.com", "ann@example.com")
    assert customer.tags == ["vip", "wholesale"]


def test_taken_email_is_a_form_error(shop, owner):
    factories.make_customer(shop, email="ann@example.com")

    answer = owner.fill(ADD, email="ANN@example.com")

    assert list(errors_of(answer)) == ["__all__"]
    with shop.scope():
        assert Customer.objects.count() == 1


@pytest.mark.parametrize(
    ("field", "value"), [("email", "nobody"), ("email", ""), ("locale", "german"), ("country_code", "XX")]
)
def test_field_that_the_api_refuses_is_a_form_error(shop, owner, field, value):
    answer = owner.fill(ADD, **{"email": "ann@example.com", field: value})

    assert list(errors_of(answer)) == [field]
    with shop.scope():
        assert not Customer.objects.exists()


def test_customer_is_redacted_and_then_no_longer_changed(shop, owner):
    customer = factories.make_customer(shop, email="ann@example.com", first_name="Ann")

    owner.confirm(f"customers/customer/{customer.pk}/redact/")
    answer = owner.post(f"customers/customer/{customer.pk}/change/", {"email": "ann@example.com"})

    assert answer.status_code == 409
    with shop.scope():
        customer.refresh_from_db()
        log = StaffAction.objects.get()
    assert (customer.email, customer.first_name) == (None, "")
    assert "ann" not in log.summary.lower()


def test_log_of_a_change_names_no_person(shop, owner):
    customer = factories.make_customer(shop, email="ann@example.com")

    owner.fill(f"customers/customer/{customer.pk}/change/", first_name="Ann", last_name="Lee")

    with shop.scope():
        assert StaffAction.objects.get().summary == "changed First name, Last name"


def test_segment_is_added(shop, owner):
    conditions = '{"all": [{"field": "orders_count", "op": "gte", "value": 3}]}'

    owner.fill("customers/segment/add/", handle="loyal", name="Loyal", filter=conditions)

    with shop.scope():
        assert Segment.objects.get().filter == {"all": [{"field": "orders_count", "op": "gte", "value": 3}]}


@pytest.mark.parametrize(
    "conditions",
    [
        "{",
        "[]",
        "{}",
        '{"all": [{"field": "shoe_size", "op": "eq", "value": 1}]}',
        '{"all": [{"field": "tag", "op": "gte", "value": "a"}]}',
        '{"all": [{"field": "tag"}]}',
        '{"all": [{"field": "tag", "op": "eq", "value": "\\u0000"}]}',
    ],
)
def test_segment_filter_that_the_api_refuses_is_a_form_error(shop, owner, conditions):
    answer = owner.fill("customers/segment/add/", handle="loyal", name="Loyal", filter=conditions)

    assert list(errors_of(answer)) == ["filter"]
    with shop.scope():
        assert not Segment.objects.exists()


def test_segments_are_deleted_together(shop, owner):
    with shop.scope():
        segments = [Segment.objects.create(handle=handle, name=handle, filter={"all": []}) for handle in "ab"]

    owner.post(
        "customers/segment/",
        {
            "action": "delete_selected",
            "_selected_action": [segment.pk for segment in segments],
            "index": 0,
            "post": "yes",
        },
    )

    with shop.scope():
        assert not Segment.objects.exists()
        assert StaffAction.objects.filter(kind="deleted").count() == 2
