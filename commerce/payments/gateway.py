"""What is asked of a payment gateway, and what it may answer. Nothing here is called with a transaction open."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class GatewayError(Exception):
    """No answer about the payment. `failure_code` is what an attempt that failed by it carries."""

    failure_code: str


class GatewayRefused(GatewayError):
    """The gateway said no to what it was asked, and would say so again."""

    failure_code = "gateway_refused"


class GatewayUnreachable(GatewayError):
    """This call did nothing: it was not sent, or it was not let in."""

    failure_code = "gateway_unreachable"


class OutcomeUnknown(GatewayError):
    """This call may have done what it asked for. Asked again under the same key, it does so once."""

    failure_code = "gateway_unreachable"


class State(StrEnum):
    OPEN = "open"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What has become of a payment.

    A failed one can't be paid any more. `is_charged` says that it took the customer's money all the same.
    """

    state: State
    reference: str | None = None
    redirect_url: str | None = None
    failure_code: str | None = None
    is_charged: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """One attempt to pay, as a gateway is told of it. `key` stands for it in every call, however often it is made."""

    key: str
    account_id: int
    checkout_id: int
    attempt_id: int
    amount_cents: int
    currency: str
    email: str
    return_url: str
    cancel_url: str
    started_at: datetime
    expires_at: datetime
    reference: str | None = None


class Gateway(Protocol):
    """A service that takes the customer's money on a page of its own. Each method may raise a `GatewayError`."""

    # Whether it is another service, which may let a thread wait.
    is_outside: bool

    def start(self, payment: Payment) -> Report:
        """Open the page; asked again for the same payment, the same page."""

    def report(self, payment: Payment) -> Report:
        """What has become of a payment, whose `reference` is known."""

    def cancel(self, payment: Payment) -> Report:
        """Close the page, unless it has been paid; what has become of the payment, which is open no longer."""

    def refund(self, payment: Payment) -> str:
        """Give the money back, once; the gateway's own name of the refund."""
