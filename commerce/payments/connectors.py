"""Payment connectors: the protocol that each way to pay speaks, and the registry of those there are."""

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Started:
    """What a connector says when a payment is started; without a redirect it can be confirmed at once."""

    redirect_url: str | None = None
    provider_reference: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether the money is on its way, or the stable code of why not."""

    succeeded: bool
    failure_code: str | None = None


class Connector(Protocol):
    """One way to pay."""

    code: str
    needs_return_url: bool
    charges_cod_fee: bool

    def accepts(self, shipping_method: dict[str, Any]) -> bool:
        """Whether a parcel sent by this (snapshotted) method can be paid so."""

    def start(self, *, amount_cents: int, currency: str) -> Started:
        """Begin the payment of an amount in cents."""

    def confirm(self, *, provider_reference: str | None, callback_payload: dict[str, Any]) -> Outcome:
        """Say whether the payment succeeded."""


class CashOnDelivery:
    """Paid to the carrier, for a fee of the method; there is nothing to ask anybody before the order."""

    code = "cod"
    needs_return_url = False
    charges_cod_fee = True

    def accepts(self, shipping_method: dict[str, Any]) -> bool:
        return bool(shipping_method["is_cod_compatible"])

    def start(self, *, amount_cents: int, currency: str) -> Started:
        return Started()

    def confirm(self, *, provider_reference: str | None, callback_payload: dict[str, Any]) -> Outcome:
        return Outcome(succeeded=True)


class BankTransfer:
    """Paid by the customer after the order; staff mark it paid when the money has come."""

    code = "bank_transfer"
    needs_return_url = False
    charges_cod_fee = False

    def accepts(self, shipping_method: dict[str, Any]) -> bool:
        return True

    def start(self, *, amount_cents: int, currency: str) -> Started:
        return Started()

    def confirm(self, *, provider_reference: str | None, callback_payload: dict[str, Any]) -> Outcome:
        return Outcome(succeeded=True)


_REGISTRY: dict[str, Connector] = {
    connector.code: connector for connector in (CashOnDelivery(), BankTransfer())
}


def get_connector(code: str) -> Connector | None:
    return _REGISTRY.get(code)


def connector_codes() -> list[str]:
    return sorted(_REGISTRY)
