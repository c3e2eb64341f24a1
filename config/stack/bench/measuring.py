"""Measures the operations in the order in which each creates what the next ones need."""

from collections.abc import Callable, Iterable, Iterator
from itertools import cycle, repeat, starmap
from time import perf_counter
from typing import NamedTuple

from . import shopping as operations
from .load import Client, Measurement, drive
from .messages import Request
from .shopping import LINES_OF_JOURNEY, Shopping, journey

JOURNEY = "a whole journey, from cart to order"
_LINES_OF_READ_CART = 10
# Journeys still running at the end don't count. With several turns, few are lost.
_TURNS_OF_JOURNEYS = 3


class Row(NamedTuple):
    operation: str
    measurement: Measurement


class Bench:
    """Sends requests to one address: each operation for a number of seconds, by concurrent clients."""

    def __init__(self, address: tuple[str, int], *, seconds: float, clients: int) -> None:
        self.address = address
        self.seconds = seconds
        self.clients = clients

    def run(self, make_client: Callable[[], Client], *, turns: int = 1) -> Measurement:
        """Run all clients for the time of `turns` operations."""
        clients = [make_client() for _ in range(self.clients)]
        return drive(self.address, clients, seconds=self.seconds * turns)

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


def measure(bench: Bench, shopping: Shopping) -> Iterator[Row]:
    yield bench.repeated(operations.HEALTH, shopping.check_health)
    yield bench.repeated(operations.MARKETS, shopping.list_markets)
    yield bench.repeated(operations.ADMIN_QUOTE, shopping.quote_as_admin)
    cart = _fill_cart(bench, shopping)
    yield bench.repeated(operations.READ_CART, lambda: shopping.read_cart(cart))
    row, carts = bench.each(operations.CREATE_CART, starmap(shopping.create_cart, repeat(())))
    yield row
    carts = _fill_carts(bench, shopping, carts)
    any_cart = cycle(carts)
    yield bench.repeated(operations.ADD_LINE, lambda: shopping.add_line(next(any_cart)))
    row, checkouts = bench.each(operations.ENTER_CHECKOUT, map(shopping.enter_checkout, carts))
    yield row
    # Each step is measured with all checkouts before the next step.
    row, checkouts = bench.each(operations.SET_ADDRESS, map(shopping.set_address, checkouts))
    yield row
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
    yield _measure_journeys(bench, shopping)


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
    """Add lines to the carts. Returns those that got all their lines within the time of one operation."""
    empty = iter(carts)
    filled: list[str] = []

    def client() -> Client:
        for cart in empty:
            for _ in range(LINES_OF_JOURNEY):
                yield shopping.add_line(cart)
            filled.append(cart)

    bench.run(client)
    return filled


def _measure_journeys(bench: Bench, shopping: Shopping) -> Row:
    """Run one journey after another with each client. The row counts orders, not requests."""
    latencies: list[float] = []

    def client() -> Client:
        while True:
            began = perf_counter()
            yield from journey(shopping)
            latencies.append(perf_counter() - began)

    whole = bench.run(client, turns=_TURNS_OF_JOURNEYS)
    return Row(JOURNEY, Measurement(latencies, whole.elapsed, whole.own_time))
