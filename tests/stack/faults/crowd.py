"""Shoppers who keep buying concurrently while something else happens."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from threading import Event

import pytest

from config.stack.bench.shop import Shop
from config.stack.waiting import until_deadline

from .shoppers import Purchase, Shopper

_SHOPPERS = 3
_PAUSE_SECONDS = 0.2
_PURCHASES_SECONDS = 120


class Crowd:
    """Shoppers, and what they have bought so far."""

    def __init__(self, shoppers: list[Shopper], pool: ThreadPoolExecutor) -> None:
        self.purchases: list[Purchase] = []
        self._closing = Event()
        self._visits = [pool.submit(self._visit, shopper) for shopper in shoppers]

    def wait_for_purchases(self, number: int) -> None:
        """Wait until so many more orders are placed. Raises `Refused` if a shopper was refused."""
        wanted = len(self.purchases) + number
        for _ in until_deadline(_PURCHASES_SECONDS):
            self._raise_refusals()
            if len(self.purchases) >= wanted:
                return
        missing = wanted - len(self.purchases)
        pytest.fail(f"{missing} of {number} orders were not placed within {_PURCHASES_SECONDS} s.")

    def send_home(self) -> None:
        """Let every shopper finish the current order, so that no checkout stays open."""
        self._closing.set()

    def wait_until_gone(self) -> None:
        """Wait until all have finished. Raises `Refused` if a shopper was refused."""
        for visit in self._visits:
            visit.result()

    def _visit(self, shopper: Shopper) -> None:
        while not self._closing.wait(_PAUSE_SECONDS):
            self.purchases.append(shopper.buy())

    def _raise_refusals(self) -> None:
        for visit in self._visits:
            if visit.done():
                visit.result()


@contextmanager
def shopping(shop: Shop, *, base_url: str) -> Iterator[Crowd]:
    """Let shoppers buy for as long as the block lasts. Raises `Refused` if one of them was refused."""
    with ExitStack() as exits:
        names = [f"shopper-{number}" for number in range(_SHOPPERS)]
        shoppers = [
            exits.enter_context(closing(Shopper(shop, base_url=base_url, name=name))) for name in names
        ]
        crowd = Crowd(shoppers, exits.enter_context(ThreadPoolExecutor(_SHOPPERS)))
        try:
            yield crowd
        finally:
            crowd.send_home()
        crowd.wait_until_gone()
