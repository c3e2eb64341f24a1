"""What the demo page may know of what `seed_demo` has written: the shops with their storefront keys, nothing else."""

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
    """The shops of this file in its order; raises `FileNotFoundError` while nothing has been seeded."""
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
