"""Events in any order: the status never goes back, and each time is set once."""

from datetime import UTC, datetime, timedelta
from itertools import permutations, product

import pytest

from emails.models import EmailDelivery
from emails.tracking import EFFECTS, RANKS, correct_time, find_changes

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


def apply_event(state, event_type, occurred_at):
    """Return the state of a delivery after an event."""
    happened_at = state.get(EFFECTS[event_type].time_field)
    return state | find_changes(
        event_type, occurred_at=occurred_at, status=state["status"], happened_at=happened_at
    )


def test_every_status_has_a_rank():
    assert RANKS.keys() == set(EmailDelivery.Status.values)
    assert len(set(RANKS.values())) == len(RANKS)


@pytest.mark.parametrize(("status", "event_type"), list(product(RANKS, EFFECTS)))
def test_status_never_steps_back(status, event_type):
    after = apply_event({"status": status}, event_type, NOW)

    assert RANKS[after["status"]] == max(RANKS[status], RANKS[EFFECTS[event_type].status])
    assert after[EFFECTS[event_type].time_field] == NOW


@pytest.mark.parametrize("order", [*product(EFFECTS, repeat=3), *permutations(EFFECTS)])
def test_events_in_any_order_end_at_the_highest_with_the_first_time_of_each(order):
    state = {"status": "sent"}
    for minute, event_type in enumerate(order):
        before, state = state, apply_event(state, event_type, NOW + timedelta(minutes=minute))
        assert RANKS[state["status"]] >= RANKS[before["status"]]

    assert RANKS[state["status"]] == max(RANKS[EFFECTS[event_type].status] for event_type in order)
    assert {name: value for name, value in state.items() if name != "status"} == {
        EFFECTS[event_type].time_field: NOW + timedelta(minutes=order.index(event_type))
        for event_type in order
    }


@pytest.mark.parametrize(
    ("ahead", "expected"),
    [(timedelta(days=-900), "claimed"), (timedelta(hours=23), "claimed"), (timedelta(days=2), "now")],
)
def test_time_that_lies_ahead_is_not_believed(ahead, expected):
    claimed = NOW + ahead

    assert correct_time(claimed, now=NOW) == (claimed if expected == "claimed" else NOW)
