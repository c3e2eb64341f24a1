"""What a demo shop has sold in the last weeks: orders of several people, placed over the storefront API."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from accounts.models import Account, Market
from commerce.catalog.models import Variant
from commerce.inventory.models import InventoryLevel
from commerce.inventory.operations import adjust_level
from commerce.orders.models import Order
from commerce.tenancy.scope import account_scope, workspace_scope
from config.demo.seeding import seed
from config.demo.shops import WORKSPACES
from tests.clients import ApiClient
from tests.shops import Shop


@dataclass(frozen=True)
class Person:
    first_name: str
    last_name: str
    street: str
    zip: str
    city: str

    @property
    def email(self) -> str:
        name = f"{self.first_name}.{self.last_name}".lower()
        return f"{name.translate(str.maketrans({'ä': 'ae', 'ö': 'oe', 'ü': 'ue', 'ß': 'ss'}))}@example.com"

    @property
    def address(self) -> dict[str, str]:
        names = {"first_name": self.first_name, "last_name": self.last_name}
        return names | {"address1": self.street, "zip": self.zip, "city": self.city, "country_code": "DE"}


PEOPLE = (
    Person("Hanna", "Vogel", "Bergmannstraße 12", "10961", "Berlin"),
    Person("Emil", "Brandt", "Schanzenstraße 40", "20357", "Hamburg"),
    Person("Leyla", "Demir", "Venloer Straße 211", "50823", "Köln"),
    Person("Jonas", "Schäfer", "Karl-Heine-Straße 83", "04229", "Leipzig"),
    Person("Clara", "Neumann", "Sendlinger Straße 7", "80331", "München"),
    Person("Paul", "Krüger", "Louisenstraße 30", "01099", "Dresden"),
    Person("Mia", "Hoffmann", "Schweizer Straße 55", "60594", "Frankfurt"),
)
# The places of variants in the shop's list, with quantities.
BASKETS = (
    ((0, 2), (3, 1)), ((5, 1),), ((8, 3), (1, 1)), ((10, 1), (4, 2)), ((2, 1),), ((9, 4),), ((7, 1), (6, 1)),
    ((28, 1), (20, 2)),
)  # fmt: skip
# When orders were placed. Those of the last days are still to be fulfilled.
DAYS_AGO = (
    57, 55, 53, 52, 49, 48, 45, 44, 41, 40, 38, 36, 34, 33, 31, 29, 28, 27, 26, 26, 24, 23, 22, 21, 20, 19, 19, 18, 17,
    16, 15, 14, 13, 13, 12, 11, 10, 9, 9, 8, 7, 7, 6, 5, 5, 4, 4, 3, 3, 2, 2, 2, 1, 1, 1, 1,
)  # fmt: skip
FULFILLED_AFTER_DAYS = 4
# Units that are left of some variants.
LOW_STOCK = {"PA-012": 3, "PA-019": 0, "PA-023": 5}


def open_demo_shop(*, now: datetime) -> Shop:
    """Create the demo shops as `make run` does, and return the first one, with its market in Germany."""
    described: Any = seed(now=now)
    workspace = described["workspaces"][0]
    made = workspace["accounts"][0]
    with workspace_scope(WORKSPACES[0].id):
        account = Account.objects.get(handle=made["handle"])
    with account_scope(account.pk):
        market = Market.objects.get(handle="de")
    return Shop(
        workspace_id=WORKSPACES[0].id,
        id=account.pk,
        handle=account.handle,
        market=market,
        admin=ApiClient.admin(made["admin_key"], account.handle),
        storefront=ApiClient.storefront(made["storefront_key"]),
        workspace=ApiClient.admin(workspace["workspace_key"]),
    )


def sell(shop: Shop, *, now: datetime) -> None:
    """Place the orders of eight weeks. Some carts are left, so that not every cart becomes an order."""
    with shop.scope():
        variants = list(Variant.objects.order_by("pk").values_list("pk", flat=True))
    for index, days in enumerate(DAYS_AGO):
        basket = [(variants[place], quantity) for place, quantity in BASKETS[index % len(BASKETS)]]
        order_id = _place_order(shop, PEOPLE[(index * 3) % len(PEOPLE)], basket)
        if days > FULFILLED_AFTER_DAYS:
            for path, body in (("fulfill", {"carrier": "dhl"}), ("mark_paid", {})):
                answer = shop.admin.post(f"orders/{order_id}/{path}.json", body)
                assert answer.status_code == 200, answer.content
        with shop.scope():
            # Later orders have higher numbers on the same day too.
            placed_at = now - timedelta(days=days, minutes=600 - 10 * index)
            Order.objects.filter(pk=order_id).update(placed_at=placed_at)
    for index in range(12):
        _fill_cart(shop, [(variants[index], 1)])
    with shop.scope():
        for level in InventoryLevel.objects.filter(variant__sku__in=LOW_STOCK).select_related("variant"):
            adjust_level(
                variant_id=level.variant_id,
                location_id=level.location_id,
                delta=LOW_STOCK[level.variant.sku] - level.on_hand,
                reason="count",
                now=now,
            )


def _fill_cart(shop: Shop, basket: list[tuple[int, int]]) -> str:
    answer = shop.storefront.post("carts.json", {"market_id": shop.market.pk})
    token: str = answer.json()["cart"]["token"]
    for variant_id, quantity in basket:
        body = {"variant_id": variant_id, "quantity": quantity}
        assert shop.storefront.post(f"carts/{token}/lines.json", body).status_code == 200
    return token


def _place_order(shop: Shop, person: Person, basket: list[tuple[int, int]]) -> int:
    body = {"cart_token": _fill_cart(shop, basket), "email": person.email}
    path = f"checkouts/{shop.storefront.post('checkouts.json', body).json()['checkout']['token']}"
    _step(shop, f"{path}/address.json", {"shipping_address": person.address, "same_as_shipping": True})
    quotes = shop.storefront.get(f"{path}/shipping_quote.json").json()["quotes"]
    quote = next(each for each in quotes if not each["method"]["requires_pickup_point"])
    chosen = {"shipping_method_id": quote["method"]["id"], "shipping_rate_id": quote["rate_id"]}
    _step(shop, f"{path}/shipping.json", chosen)
    _step(shop, f"{path}/payment_method.json", {"payment_method": "cod"})
    for name in ("start_payment", "confirm"):
        assert shop.storefront.post(f"{path}/{name}.json", {}).status_code == 200
    answer = shop.storefront.post(f"{path}/complete.json", {}, idempotency_key=path)
    assert answer.status_code == 200, answer.content
    return int(answer.json()["checkout"]["order_id"])


def _step(shop: Shop, path: str, body: dict[str, object]) -> None:
    answer = shop.storefront.put(path, body)
    assert answer.status_code == 200, answer.content
