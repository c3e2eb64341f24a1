"""Claims due dispatches: accounts take turns, and each worker process has its limits."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Self

from commerce.outbox.models import OutboxDispatch
from commerce.tenancy.models import account_of
from commerce.tenancy.statements import Prepared, send

LEASE = timedelta(minutes=5)
BATCH = 10

_CLAIM = Prepared("""
    SELECT outcome, of_account, of_dispatch, of_task, lease_until
      FROM claim_outbox_turns(%s::integer, make_interval(secs => %s), %s::bigint, %s::text, %s::bigint[],
                              %s::text[], %s::integer, %s::integer, %s::text[], %s::integer[], %s::integer)
""")


@dataclass(frozen=True, slots=True)
class Claim:
    """A dispatch that this worker may run until `lease_until`.

    Without a lease it can't be run: its worker was lost on the last attempt, so the claim has made it dead.
    """

    account_id: int
    dispatch_id: int
    lease_until: datetime | None
    task_name: str = field(default="", compare=False)
    was_lost: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, dispatch: OutboxDispatch) -> Self:
        """The claim of a dispatch that has begun."""
        return cls(account_of(dispatch), dispatch.pk, dispatch.locked_until, dispatch.task_name)

    @property
    def queue(self) -> tuple[int, str]:
        """The queue that it was taken from: the work of one account and one task."""
        return self.account_id, self.task_name

    def __str__(self) -> str:
        return f"Dispatch {self.dispatch_id} of account {self.account_id}"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much more a worker may claim."""

    # The dispatches that it is running and that count against the shares.
    busy: Sequence[Claim] = ()
    # How many of them may be of one account, and how many of one task of an account.
    share: int = BATCH
    task_share: int = BATCH
    # How many more dispatches of each task it may claim. Other tasks aren't limited.
    rooms: Mapping[str, int] = field(default_factory=dict)
    # How many more it may claim of those whose worker was lost.
    lost_room: int = BATCH


# Outcome, account, dispatch, task and lease. The outcome `passed` has no dispatch: it names a queue that had its turn.
_Row = tuple[str, int, int, str | None, datetime | None]


class Claims(list[Claim]):
    """The claimed dispatches. `failed` lists those that couldn't be claimed; the next turn starts after `after`."""

    def __init__(self, rows: Iterable[_Row], *, after: tuple[int, str]) -> None:
        super().__init__()
        self.failed: list[Claim] = []
        self.after = after
        for outcome, account_id, dispatch_id, task, lease_until in rows:
            # The work of lost workers is claimed out of turn, so the next turn doesn't start after it.
            if outcome in ("passed", "due"):
                self.after = (account_id, task or "")
            if outcome == "passed":
                continue
            claim = Claim(account_id, dispatch_id, lease_until, task or "", was_lost=outcome == "lapsed")
            (self.failed if outcome == "failed" else self).append(claim)


_UNLIMITED = Limits()


def claim_dispatches(
    *,
    batch: int = BATCH,
    lease: timedelta = LEASE,
    after: tuple[int, str] = (0, ""),
    limits: Limits = _UNLIMITED,
) -> Claims:
    """Claim due dispatches of any account for the calling worker. Call it outside of any scope."""
    parameters: list[Any] = [
        *(batch, lease.total_seconds(), *after),
        [claim.account_id for claim in limits.busy],
        [claim.task_name for claim in limits.busy],
        *(limits.share, limits.task_share),
        *(list(limits.rooms), list(limits.rooms.values()), limits.lost_room),
    ]
    (claimed,) = send(_CLAIM.call(parameters))
    return Claims(claimed.rows, after=after)
