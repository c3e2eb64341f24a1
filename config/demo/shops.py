"""The data of the demo shops: two workspaces, three accounts, and their products. Amounts are in cents."""

from typing import Any, NamedTuple
from uuid import UUID


class DemoAccount(NamedTuple):
    handle: str
    name: str
    currency: str
    locale: str
    country_code: str
    markets: tuple[dict[str, Any], ...]
    products: tuple[str, ...]


class DemoWorkspace(NamedTuple):
    id: UUID
    name: str
    accounts: tuple[DemoAccount, ...]


_GERMANY = {
    "handle": "de",
    "name": "Germany",
    "currency": "EUR",
    "locale": "de-DE",
    "country_code": "DE",
    "prices_include_tax": True,
}
_CZECHIA = {
    "handle": "cz",
    "name": "Czechia",
    "currency": "CZK",
    "locale": "cs-CZ",
    "country_code": "CZ",
    "prices_include_tax": True,
}
_STATES = {
    "handle": "us",
    "name": "United States",
    "currency": "USD",
    "locale": "en-US",
    "country_code": "US",
    "prices_include_tax": False,
}

_PAPER = [
    "Notebook A5",
    "Notebook A6",
    "Sketchbook",
    "Fountain pen",
    "Pencil set",
    "Ink, blue",
    "Ink, black",
    "Envelope set",
    "Letter paper",
    "Wall calendar",
    "Desk planner",
    "Blotting paper",
    "Pen case",
    "Eraser",
    "Ruler",
    "Sharpener",
    "Paper clips",
    "Stamp set",
    "Sealing wax",
    "Postcard set",
    "Watercolours",
    "Brush set",
    "Masking tape",
    "Sticker sheet",
    "Gift wrap",
    "Bookmark",
    "Index cards",
    "Clipboard",
    "Globe",
    "Desk lamp",
]
_COFFEE = [
    "Espresso beans",
    "Filter beans",
    "Decaf beans",
    "Hand grinder",
    "Paper filters",
    "Dripper",
    "Kettle",
    "Mug",
]
_GARDEN = ["Tomato seeds", "Basil seeds", "Trowel", "Watering can", "Clay pot", "Gloves"]

WORKSPACES = (
    DemoWorkspace(
        id=UUID("5f0c3c1e-6c5b-4c84-9d0e-0f6f3b0a1001"),
        name="Harbour Group",
        accounts=(
            DemoAccount(
                "paper-harbour",
                "Paper Harbour",
                "EUR",
                "de-DE",
                "DE",
                (_GERMANY, _CZECHIA, _STATES),
                tuple(_PAPER),
            ),
            DemoAccount(
                "coffee-harbour", "Coffee Harbour", "EUR", "de-DE", "DE", (_GERMANY,), tuple(_COFFEE)
            ),
        ),
    ),
    DemoWorkspace(
        id=UUID("5f0c3c1e-6c5b-4c84-9d0e-0f6f3b0a1002"),
        name="Green Thumb",
        accounts=(
            DemoAccount("green-thumb", "Green Thumb", "CZK", "cs-CZ", "CZ", (_CZECHIA,), tuple(_GARDEN)),
        ),
    ),
)

# Standard and reduced rates in basis points. The US rate is one state's sales tax of 8.25 %.
TAX_RATES = {
    "DE": {"standard": 1900, "reduced": 700},
    "CZ": {"standard": 2100, "reduced": 1200},
    "US": {"standard": 825},
}

# The price in each currency of something that costs 100 in euros.
PRICE_PERCENT = {"EUR": 100, "CZK": 2500, "USD": 110}

PICKUP_POINTS: tuple[dict[str, Any], ...] = (
    {
        "carrier": "packeta",
        "external_id": "demo-1",
        "name": "Tabak Torstraße",
        "address1": "Torstraße 60",
        "city": "Berlin",
        "zip": "10119",
        "country_code": "DE",
        "is_cod_supported": True,
    },
    {
        "carrier": "packeta",
        "external_id": "demo-2",
        "name": "Späti am Ring",
        "address1": "Ringbahnstraße 4",
        "city": "Berlin",
        "zip": "12099",
        "country_code": "DE",
        "is_cod_supported": True,
    },
    {
        "carrier": "packeta",
        "external_id": "demo-3",
        "name": "Z-BOX Vinohradská",
        "kind": "locker",
        "address1": "Vinohradská 12",
        "city": "Praha",
        "zip": "120 00",
        "country_code": "CZ",
    },
    {
        "carrier": "packeta",
        "external_id": "demo-4",
        "name": "Trafika Brno",
        "address1": "Česká 5",
        "city": "Brno",
        "zip": "602 00",
        "country_code": "CZ",
        "is_cod_supported": True,
    },
)
