"""The effect of a provider's event on a delivery: the status only moves forwards, and each time is set once."""

from dataclasses import dataclass
from datetime import datetime, timedelta

RANKS = {"sent": 1, "delivered": 2, "opened": 3, "clicked": 4, "bounced": 5}

# How far a provider's clock may be ahead of ours.
_MAX_AHEAD = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Effect:
    """The status that an event leads to, and the field for its first time."""

    status: str
    time_field: str


EFFECTS = {
    "email.delivered": Effect("delivered", "delivered_at"),
    "email.opened": Effect("opened", "opened_at"),
    "email.clicked": Effect("clicked", "first_clicked_at"),
    "email.bounced": Effect("bounced", "bounced_at"),
}


def find_changes(
    event_type: str, *, occurred_at: datetime, status: str, happened_at: datetime | None
) -> dict[str, str | datetime]:
    """The fields that an event changes. `happened_at` is the time of the first event of its type, if any."""
    effect = EFFECTS[event_type]
    # Events arrive in any order: an earlier one still gets its time, but doesn't turn the status back.
    changes: dict[str, str | datetime] = {}
    if happened_at is None:
        changes[effect.time_field] = occurred_at
    if RANKS[effect.status] > RANKS[status]:
        changes["status"] = effect.status
    return changes


def correct_time(claimed: datetime, *, now: datetime) -> datetime:
    """The provider's time, or ours if it lies too far ahead."""
    return claimed if claimed <= now + _MAX_AHEAD else now
