"""The interface of payment gateways. No transaction is open during any of its calls."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class GatewayError(Exception):
    """The gateway gave no answer about the payment. If the attempt fails by it, it gets this `failure_code`."""

    failure_code: str


class GatewayRefused(GatewayError):
    """The gateway refused the request, and would refuse it again."""

    failure_code = "gateway_refused"


class GatewayUnreachable(GatewayError):
    """The call had no effect: it wasn't sent, or the gateway turned it away."""

    failure_code = "gateway_unreachable"


class OutcomeUnknown(GatewayError):
    """The call may have taken effect. Repeating it with the same key is safe."""

    failure_code = "gateway_unreachable"


class State(StrEnum):
    OPEN = "open"
    # The customer has agreed, and the money is taken by `Gateway.capture`.
    APPROVED = "approved"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The state of a payment.

    A failed payment can't be paid any more. With `is_charged_anyway`, the customer was charged nevertheless, for
    example another amount, and is refunded.
    """

    state: State
    reference: str | None = None
    redirect_url: str | None = None
    failure_code: str | None = None
    is_charged_anyway: bool = False

    @property
    def is_charged(self) -> bool:
        """Whether the gateway has the customer's money."""
        return self.state is State.SUCCEEDED or self.is_charged_anyway

    @property
    def may_be_paid(self) -> bool:
        """Whether the customer may still pay."""
        return self.state in {State.OPEN, State.APPROVED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """A payment attempt as the gateway sees it. `key` is its idempotency key in every call."""

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


class Gateway(ABC):
    """A service with a payment page of its own. Each method may raise a `GatewayError`."""

    # Whether its calls go over the network, and so may take long.
    is_outside = True

    @abstractmethod
    def start(self, payment: Payment) -> Report:
        """Open the payment page. Repeated for the same payment, it returns the same page."""

    @abstractmethod
    def report(self, payment: Payment) -> Report:
        """Ask for the state of a payment that has a `reference`."""

    def capture(self, payment: Payment) -> Report:
        """Take the money of an approved payment, once. Only for gateways that report `APPROVED`.

        If it is refused, the payment is cancelled.
        """
        raise NotImplementedError

    @abstractmethod
    def cancel(self, payment: Payment) -> Report:
        """Close the page, and void an approval, unless it has been paid. Returns the state of the payment, which is final."""

    @abstractmethod
    def refund(self, payment: Payment) -> str:
        """Refund the whole payment, once. Returns the gateway's reference of the refund."""


class RemovedGateway(Gateway):
    """Stands for a gateway that `PAYMENT_METHODS` doesn't name any more. It knows nothing about any payment."""

    is_outside = False

    def __init__(self, code: str) -> None:
        self._code = code

    def start(self, payment: Payment) -> Report:
        raise self._make_error()

    def report(self, payment: Payment) -> Report:
        raise self._make_error()

    def cancel(self, payment: Payment) -> Report:
        raise self._make_error()

    def refund(self, payment: Payment) -> str:
        raise self._make_error()

    def _make_error(self) -> GatewayError:
        return OutcomeUnknown(f"PAYMENT_METHODS names no gateway for {self._code!r} any more.")
