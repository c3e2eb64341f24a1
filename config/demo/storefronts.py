"""Reads what the demo page may show of the file that `seed_demo` wrote: the shops and their storefront keys."""

from dataclasses import dataclass
from pathlib import Path

import orjson

from .shops import WORKSPACES

_NAMES = {account.handle: account.name for workspace in WORKSPACES for account in workspace.accounts}


@dataclass(frozen=True, slots=True)
class Storefront:
    account_id: int
    handle: str
    name: str
    key: str


def read_storefronts(seed: Path) -> list[Storefront]:
    """Read the shops in the file's order. Raises `FileNotFoundError` if nothing has been seeded yet."""
    return [
        Storefront(
            account_id=int(account["id"]),
            handle=account["handle"],
            name=_NAMES.get(account["handle"], account["handle"]),
            key=account["storefront_key"],
        )
        for workspace in orjson.loads(seed.read_bytes())["workspaces"]
        for account in workspace["accounts"]
    ]
