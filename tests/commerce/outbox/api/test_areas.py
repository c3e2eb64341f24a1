"""A key reaches only the dispatches of its own areas."""

import pytest

from commerce.outbox.handlers import _registrations, area_of
from commerce.outbox.models import OutboxDispatch
from commerce.principal import AREAS
from tests.factories import make_dispatch
from tests.problems import problem

AREA_OF = {
    "send_email": "emails",
    "check_sender_domain": "emails",
    "deliver_webhook": "events",
    "ping_webhook": "events",
    "settle_payment": "orders",
    "cancel_payment": "orders",
    "refund_payment": "orders",
}


def statuses(shop):
    with shop.scope():
        return dict(OutboxDispatch.objects.values_list("target__task_name", "status"))


@pytest.fixture
def made(shop):
    """Create a dead dispatch of each task, and one of an unknown task."""
    return {task: make_dispatch(shop, task_name=task, status="dead") for task in [*AREA_OF, "of-tomorrow"]}


def test_every_task_belongs_to_an_area():
    known = {name: area_of(name) for name in _registrations if name != "measured"}

    # Invitations of staff can't be reached by any key.
    assert known == {**AREA_OF, "send_staff_invitation": None}
    assert set(AREA_OF.values()) <= set(AREAS)


@pytest.mark.parametrize("action", ["retry", "cancel"])
@pytest.mark.parametrize("area", ["emails", "events", "orders"])
def test_key_acts_on_the_work_of_its_area_alone(shop, made, area, action):
    client = shop.client_with(f"write_{area}", f"read_{area}")

    for task, dispatch in made.items():
        answer = client.post(f"outbox_dispatches/{dispatch.pk}/{action}.json")
        if AREA_OF.get(task) == area:
            assert answer.status_code == 200
        else:
            assert problem(answer) == (403, "insufficient_scope")
            assert answer.json()["required_scope"].startswith("write_")

    done = "pending" if action == "retry" else "cancelled"
    assert statuses(shop) == {task: done if AREA_OF.get(task) == area else "dead" for task in made}


@pytest.mark.parametrize("area", ["emails", "events", "orders"])
def test_key_reads_the_work_of_its_area_alone(shop, made, area):
    client = shop.client_with(f"read_{area}")

    listed = client.get("outbox_dispatches.json").json()["outbox_dispatches"]
    asked = client.get("outbox_dispatches.json?task_name=refund_payment").json()["outbox_dispatches"]
    shown = {task: client.get(f"outbox_dispatches/{row.pk}.json") for task, row in made.items()}

    own = {task for task, its_area in AREA_OF.items() if its_area == area}
    assert {row["target"]["task_name"] for row in listed} == own
    assert len(asked) == (area == "orders")
    assert {task for task, answer in shown.items() if answer.status_code == 200} == own
    assert {problem(answer) for task, answer in shown.items() if task not in own} == {
        (403, "insufficient_scope")
    }


@pytest.mark.parametrize("scopes", [(), ("write_emails", "write_events", "write_orders")])
def test_key_of_all_areas_has_to_do_with_all_work(shop, made, scopes):
    client = shop.client_with(*scopes) if scopes else shop.admin

    listed = client.get("outbox_dispatches.json").json()["outbox_dispatches"]
    answers = [client.post(f"outbox_dispatches/{row.pk}/cancel.json") for row in made.values()]

    assert {row["target"]["task_name"] for row in listed} == made.keys()
    assert {answer.status_code for answer in answers} == {200}


def test_key_that_reads_one_area_and_writes_another(shop, made):
    client = shop.client_with("read_orders", "write_emails")
    path = f"outbox_dispatches/{made['refund_payment'].pk}"

    assert client.get(f"{path}.json").status_code == 200
    assert problem(client.post(f"{path}/cancel.json")) == (403, "insufficient_scope")
    assert statuses(shop)["refund_payment"] == "dead"
