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
    """The work was refused and would be refused again: the dispatch is dead at once."""


class UnknownTask(Exception):
    """This worker doesn't know the task or the version of its payload. A newer worker may."""


class Postponed(Exception):
    """The work has to wait until `until`. This doesn't count as an attempt."""

    def __init__(self, reason: str, *, until: datetime) -> None:
        super().__init__(reason)
        self.until = until


class LeaseLost(Exception):
    """Another worker has taken the dispatch over, so this worker must not change it."""
