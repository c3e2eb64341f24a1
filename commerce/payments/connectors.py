"""Payment methods, and which of them an account offers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from commerce.configuration.queries import effective_all
from commerce.configuration.registry import Value

from .errors import PaymentMethodNotSupported
from .gateway import Gateway
from .stripe.gateway import StripeCheckout
from .test_card.gateway import FakeCard

Settings = Mapping[str, Value]


class ChosenMethod(Protocol):
    """What a way to pay may ask about a checkout's shipping method."""

    @property
    def is_cod_compatible(self) -> bool: ...


def _always(_: Any) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Connector:
    """A payment method. One without a gateway is paid on or after delivery, and needs no outside call."""

    code: str
    charges_cod_fee: bool = False
    # Whether it is available with the chosen shipping method; before the shipping step there is none.
    accepts: Callable[[ChosenMethod | None], bool] = _always
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
            code="cod",
            charges_cod_fee=True,
            accepts=lambda method: method is not None and method.is_cod_compatible,
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
    """A payment method, even if the account in scope doesn't offer it."""
    return _REGISTRY.get(code)


def has_gateway(code: str | None) -> bool:
    """Whether a confirmed payment means that the money has been paid, rather than will be on or after delivery."""
    connector = _REGISTRY.get(code or "")
    return connector is not None and connector.gateway is not None


def gateway_methods() -> list[str]:
    """The payment methods that have a gateway, whether an account offers them or not."""
    return [code for code in _REGISTRY if has_gateway(code)]


def cod_fee_methods() -> list[str]:
    return [code for code, connector in _REGISTRY.items() if connector.charges_cod_fee]


def offered_connector(code: str) -> Connector:
    """A payment method that the account in scope offers; raises `PaymentMethodNotSupported`."""
    connector = get_connector(code)
    if connector is None or not (connector.is_offered is _always or connector.is_offered(effective_all())):
        raise not_supported("There is no such payment method.")
    return connector


def gateway_of(code: str) -> Gateway:
    """A payment method's gateway, with the keys of the account in scope, even if the account no longer offers the method."""
    connector = _REGISTRY[code]
    if connector.gateway is None:
        raise LookupError(f"There is no gateway behind {code!r}.")
    return connector.gateway(effective_all())


def not_supported(detail: str) -> PaymentMethodNotSupported:
    settings = effective_all()
    offered = sorted(code for code, connector in _REGISTRY.items() if connector.is_offered(settings))
    return PaymentMethodNotSupported(detail, supported=offered)
