"""A shop's orders, emails and stock as its owner reads them, and the mail that was sent."""

from collections import Counter
from dataclasses import dataclass
from email import message_from_bytes, policy
from pathlib import Path

from config.stack.bench.shop import Shop
from config.stack.client import ApiClient, Json
from config.stack.running import RunningStack

from .shoppers import mail_domain


@dataclass(frozen=True, kw_only=True)
class Books:
    orders: list[Json]
    dispatches: list[Json]
    deliveries: list[Json]
    levels: list[Json]
    # The shoppers' addresses, one entry per message.
    recipients: list[str]

    @classmethod
    def of(cls, stack: RunningStack, shop: Shop) -> "Books":
        admin = ApiClient.admin(stack.base_url, shop.handle, shop.admin_key)
        return cls(
            dispatches=_rows(admin, "outbox_dispatches"),
            orders=_rows(admin, "orders"),
            deliveries=_rows(admin, "email_deliveries", path="email/deliveries"),
            levels=_rows(admin, "inventory_levels"),
            recipients=_recipients(Path(stack.demo["mail_dir"]), domain=mail_domain(shop)),
        )

    @property
    def units_ordered(self) -> Counter[str]:
        """Return ordered units by variant id."""
        units: Counter[str] = Counter()
        for order in self.orders:
            for line in order["line_items"]:
                units[line["variant_id"]] += line["quantity"]
        return units

    @property
    def units_committed(self) -> Counter[str]:
        """Return committed units by variant id, without zeros."""
        return Counter(
            {level["variant_id"]: level["committed"] for level in self.levels if level["committed"]}
        )


def _rows(admin: ApiClient, name: str, *, path: str | None = None) -> list[Json]:
    """Load every page of a list."""
    rows: list[Json] = []
    cursor = ""
    while True:
        page = admin.get(f"{path or name}.json?limit=250{cursor}")
        rows += page[name]
        if page["next_cursor_id"] is None:
            return rows
        cursor = f"&cursor_id={page['next_cursor_id']}"


def _recipients(mail_dir: Path, *, domain: str) -> list[str]:
    messages = [
        message_from_bytes(path.read_bytes(), policy=policy.default) for path in mail_dir.glob("*.eml")
    ]
    addresses = [address for message in messages for address in message["To"].addresses]
    return [address.addr_spec for address in addresses if address.domain == domain]
