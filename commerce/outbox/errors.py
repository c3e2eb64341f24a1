from datetime import datetime

from commerce.errors import Refusal


class DispatchNotRetryable(Refusal):
    """Carries `dispatch_status`."""

    status = 409
    code = "dispatch_not_retryable"
    title = "Only a dead or cancelled dispatch can be retried"


class DispatchNotCancellable(Refusal):
    """Carries `dispatch_status`."""

    status = 409
    code = "dispatch_not_cancellable"
    title = "Only a pending or dead dispatch can be cancelled"


class PermanentFailure(Exception):
    """The work of a dispatch was refused and would be refused again, so that it ends as dead at once."""


class UnknownTask(Exception):
    """Nothing here handles the task, or not this version of its payload: a newer worker may."""


class Postponed(Exception):
    """The work has to wait until a time; this was no try."""

    def __init__(self, reason: str, *, until: datetime) -> None:
        super().__init__(reason)
        self.until = until


class LeaseLost(Exception):
    """Another worker has taken the dispatch over: what this one has to say about it no longer counts."""
