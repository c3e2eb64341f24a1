"""The ways to pay, and which of them an account offers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from commerce.configuration.queries import effective_all
from commerce.configuration.registry import Value

from .errors import PaymentMethodNotSupported
from .gateway import Gateway
from .stripe.gateway import StripeCheckout
from .test_card.gateway import FakeCard

Settings = Mapping[str, Value]


def _always(_: Any) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Connector:
    """One way to pay. Without a gateway nobody is asked: the money comes with or after the parcel."""

    code: str
    charges_cod_fee: bool = False
    # Whether a parcel sent by this (snapshotted) method can be paid so.
    accepts: Callable[[dict[str, Any]], bool] = _always
    is_offered: Callable[[Settings], bool] = _always
    gateway: Callable[[Settings], Gateway] | None = None


def _test_card(settings: Settings) -> Gateway:
    return FakeCard()


def _stripe(settings: Settings) -> Gateway:
    return StripeCheckout(secret_key=str(settings["commerce.payments.stripe_secret_key"]))


_REGISTRY = {
    connector.code: connector
    for connector in (
        Connector(
            code="cod", charges_cod_fee=True, accepts=lambda method: bool(method.get("is_cod_compatible"))
        ),
        Connector(code="bank_transfer"),
        Connector(
            code="test_card",
            is_offered=lambda settings: bool(settings["commerce.payments.test_card"]),
            gateway=_test_card,
        ),
        Connector(
            code="stripe",
            is_offered=lambda settings: bool(settings["commerce.payments.stripe_secret_key"]),
            gateway=_stripe,
        ),
    )
}


def get_connector(code: str) -> Connector | None:
    """A way to pay, also one that the account in scope does not offer."""
    return _REGISTRY.get(code)


def has_gateway(code: str | None) -> bool:
    """Whether what is paid so has been paid once it is confirmed, rather than with or after the parcel."""
    connector = _REGISTRY.get(code or "")
    return connector is not None and connector.gateway is not None


def offered_connector(code: str) -> Connector:
    """A way to pay that the account in scope offers; raises `PaymentMethodNotSupported`."""
    connector = get_connector(code)
    if connector is None or not (connector.is_offered is _always or connector.is_offered(effective_all())):
        raise not_supported("There is no such payment method.")
    return connector


def gateway_of(code: str) -> Gateway:
    """The gateway behind a way to pay, with the keys of the account in scope, also when it is offered no longer."""
    connector = _REGISTRY[code]
    if connector.gateway is None:
        raise LookupError(f"There is no gateway behind {code!r}.")
    return connector.gateway(effective_all())


def not_supported(detail: str) -> PaymentMethodNotSupported:
    settings = effective_all()
    offered = sorted(code for code, connector in _REGISTRY.items() if connector.is_offered(settings))
    return PaymentMethodNotSupported(detail, supported=offered)
