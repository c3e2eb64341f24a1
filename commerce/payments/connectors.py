"""Payment methods, and which of them an account offers. docs/extending.md tells how to add one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NoReturn, Protocol

from django.conf import settings as django_settings
from django.utils.module_loading import import_string

from commerce.configuration.queries import read_settings
from commerce.configuration.registry import Setting, Value

from .bank_account import SETTINGS as BANK_ACCOUNT
from .errors import PaymentMethodNotSupported
from .gateway import Gateway, RemovedGateway

Settings = Mapping[str, Value]


class ChosenMethod(Protocol):
    """The chosen shipping method, as far as payment methods depend on it."""

    @property
    def is_cod_compatible(self) -> bool: ...


class ChosenPoint(Protocol):
    """The chosen pickup point, as far as payment methods depend on it."""

    @property
    def is_cod_supported(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """How an order is to be delivered: before the shipping step there is no method, and most methods have no point."""

    method: ChosenMethod | None
    point: ChosenPoint | None


def takes_cash(delivery: Delivery) -> bool:
    """Whether whoever hands over the parcel collects the money."""
    if delivery.method is None or not delivery.method.is_cod_compatible:
        return False
    return delivery.point is None or delivery.point.is_cod_supported


def _always(_: object) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Connector:
    """A payment method. One without a gateway is paid on or after delivery, and needs no outside call."""

    code: str
    charges_cod_fee: bool = False
    # Whether it is available with the chosen delivery.
    accepts: Callable[[Delivery], bool] = _always
    is_offered: Callable[[Settings], bool] = _always
    # Makes the gateway from the account's settings. Import the gateway's library here, so that only processes that
    # use it load it.
    gateway: Callable[[Settings], Gateway] | None = None
    # What an account has to set before it can offer the method.
    settings: tuple[Setting, ...] = ()
    # Dotted names, imported by web processes and by the API document: a module with `urlpatterns`, such as for the
    # gateway's webhook, and a mapping of their paths to OpenAPI path items.
    urls: str | None = None
    documents: str | None = None


CASH_ON_DELIVERY = Connector(code="cod", charges_cod_fee=True, accepts=takes_cash)
BANK_TRANSFER = Connector(code="bank_transfer", settings=BANK_ACCOUNT)


def load_connectors() -> Mapping[str, Connector]:
    """The payment methods of the installation by their codes, whether or not an account offers them."""
    return _import_connectors(tuple(django_settings.PAYMENT_METHODS))


# By the names, so that another value of the setting, as in a test, gets its own connectors.
@cache
def _import_connectors(names: tuple[str, ...]) -> Mapping[str, Connector]:
    connectors: list[Connector] = [import_string(name) for name in names]
    return {connector.code: connector for connector in connectors}


def get_connector(code: str) -> Connector | None:
    """A payment method, even if the account in scope doesn't offer it."""
    return load_connectors().get(code)


def has_gateway(code: str | None) -> bool:
    """Whether a confirmed payment means that the money has been paid, rather than will be on or after delivery."""
    connector = get_connector(code or "")
    return connector is not None and connector.gateway is not None


def list_gateway_methods() -> list[str]:
    """The payment methods that have a gateway, whether an account offers them or not."""
    return [code for code in load_connectors() if has_gateway(code)]


def list_cod_fee_methods() -> list[str]:
    return [code for code, connector in load_connectors().items() if connector.charges_cod_fee]


def list_offered_methods(delivery: Delivery | None = None) -> list[str]:
    """The payment methods that the account in scope offers, for this delivery or for any. In the installation's order."""
    settings = read_settings()
    return [
        code
        for code, connector in load_connectors().items()
        if connector.is_offered(settings) and (delivery is None or connector.accepts(delivery))
    ]


def get_offered_connector(code: str, delivery: Delivery) -> Connector:
    """Return a payment method that the account in scope offers for this delivery.

    Raises `PaymentMethodNotSupported`, with the methods that it does offer.
    """
    connector = get_connector(code)
    # Most methods are always offered, and need no statement for the account's settings.
    if connector is None or not (connector.is_offered is _always or connector.is_offered(read_settings())):
        _refuse_method("There is no such payment method.", delivery)
    if not connector.accepts(delivery):
        _refuse_method("This payment method isn't available for the chosen delivery.", delivery)
    return connector


def get_gateway(code: str) -> Gateway:
    """Return a payment method's gateway, with the keys of the account in scope.

    The account need no longer offer the method: payments that it has started are still to be ended or refunded. If the
    installation has no such gateway any more, each call raises `OutcomeUnknown`.
    """
    connector = get_connector(code)
    if connector is None or connector.gateway is None:
        return RemovedGateway(code)
    return connector.gateway(read_settings())


def _refuse_method(detail: str, delivery: Delivery) -> NoReturn:
    raise PaymentMethodNotSupported(detail, supported=sorted(list_offered_methods(delivery)))
