"""Measures the operations in the order in which each creates what the next ones need."""

from collections.abc import Callable, Iterable, Iterator
from itertools import cycle, repeat, starmap
from time import perf_counter
from typing import NamedTuple

from . import shopping as operations
from .load import Client, Measurement, drive
from .messages import Request
from .shopping import LINES_OF_JOURNEY, Shopping
from .usage import Usage, subtract

_LINES_OF_READ_CART = 10
# Filling a cart takes three requests, so few would be filled in the time of one operation.
_TURNS_OF_FILLING = 3


class Row(NamedTuple):
    operation: str
    measurement: Measurement


class Bench:
    """Sends requests to one address: each operation for a number of seconds, by concurrent clients."""

    def __init__(self, address: tuple[str, int], usage: Usage, *, seconds: float, clients: int) -> None:
        self.address = address
        self.usage = usage
        self.seconds = seconds
        self.clients = clients

    def run(
        self,
        make_client: Callable[[], Client],
        *,
        turns: int = 1,
        finish: Callable[[], None] = lambda: None,
    ) -> Measurement:
        """Run all clients for the time of `turns` operations. What `finish` does belongs to the measurement too."""
        clients = [make_client() for _ in range(self.clients)]
        before = self.usage.read_seconds()
        measurement = drive(self.address, clients, seconds=self.seconds * turns)
        began = perf_counter()
        finish()
        measurement.finish_time = perf_counter() - began
        measurement.elapsed += measurement.finish_time
        measurement.cpu = subtract(self.usage.read_seconds(), before)
        return measurement

    def repeated(self, operation: str, make: Callable[[], Request]) -> Row:
        """Measure an operation that can be repeated without limit."""
        row, _ = self.each(operation, starmap(make, repeat(())))
        return row

    def each(self, operation: str, requests: Iterable[Request]) -> tuple[Row, list[str]]:
        """Measure the given requests, shared among the clients. Returns the tokens in their answers too."""
        shared = iter(requests)
        tokens: list[str] = []

        def client() -> Client:
            for request in shared:
                answer = yield request
                tokens.append(answer.token)

        return Row(operation, self.run(client)), tokens


def measure_operations(bench: Bench, shopping: Shopping) -> Iterator[Row]:
    """Measure each operation on its own. The first is the one that does nothing."""
    yield bench.repeated(operations.NOTHING, shopping.do_nothing)
    yield bench.repeated(operations.HEALTH, shopping.check_health)
    yield bench.repeated(operations.MARKETS, shopping.list_markets)
    yield bench.repeated(operations.ADMIN_QUOTE, shopping.quote_as_admin)
    cart = _fill_cart(bench, shopping)
    yield bench.repeated(operations.READ_CART, lambda: shopping.read_cart(cart))
    row, carts = bench.each(operations.CREATE_CART, starmap(shopping.create_cart, repeat(())))
    yield row
    carts = _fill_carts(bench, shopping, carts)
    third = len(carts) // 3
    # Once to each cart, so that all have three lines, and to other carts than those that enter checkout.
    row, _ = bench.each(operations.ADD_LINE, map(shopping.add_line, carts[:third]))
    yield row
    row, checkouts = bench.each(operations.ENTER_CHECKOUT, map(shopping.enter_checkout, carts[third:]))
    yield row
    # Each step is measured with all checkouts before the next step.
    row, checkouts = bench.each(operations.SET_ADDRESS, map(shopping.set_address, checkouts))
    yield row
    half = len(checkouts) // 2
    row, discounted = bench.each(operations.APPLY_CODE, map(shopping.apply_code, checkouts[:half]))
    yield row
    # The further steps are measured without a discount.
    _, restored = bench.each("remove the code", map(shopping.remove_code, discounted))
    checkouts = [*restored, *checkouts[half:]]
    any_checkout = cycle(checkouts)
    yield bench.repeated(operations.CHECKOUT_QUOTE, lambda: shopping.quote(next(any_checkout)))
    for operation, step in (
        (operations.SET_SHIPPING, shopping.set_shipping),
        (operations.CHOOSE_PAYMENT, shopping.choose_payment),
        (operations.START_PAYMENT, shopping.start_payment),
        (operations.CONFIRM, shopping.confirm),
        (operations.COMPLETE, shopping.complete),
    ):
        row, checkouts = bench.each(operation, map(step, checkouts))
        yield row


def _fill_cart(bench: Bench, shopping: Shopping) -> str:
    """Fill the cart that is read repeatedly, and return its token."""
    tokens: list[str] = []

    def client() -> Client:
        tokens.append((yield shopping.create_cart()).token)
        for _ in range(_LINES_OF_READ_CART):
            yield shopping.add_line(tokens[0])

    drive(bench.address, [client()], seconds=bench.seconds)
    return tokens[0]


def _fill_carts(bench: Bench, shopping: Shopping, carts: Iterable[str]) -> list[str]:
    """Add lines to the carts. Returns those that got all their lines in time."""
    empty = iter(carts)
    filled: list[str] = []

    def client() -> Client:
        for cart in empty:
            for _ in range(LINES_OF_JOURNEY):
                yield shopping.add_line(cart)
            filled.append(cart)

    bench.run(client, turns=_TURNS_OF_FILLING)
    return filled
