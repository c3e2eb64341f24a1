from dataclasses import asdict, dataclass
from typing import Any, Self

from commerce.customers.models import Customer

# What of a payload is about the person who gets the message.
PERSONAL_KEYS = ["to_email", "locale", "ctx"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailRequest:
    """A message that is wanted: the payload of a `send_email` dispatch. `ctx` is for the template."""

    template_key: str
    to_email: str
    customer_id: int | None
    locale: str | None
    ctx: dict[str, Any]
    reference_type: str | None
    reference_id: int | None
    skip_notification_check: bool | None = None

    def may_reach(self, customer: Customer) -> bool:
        """Whether the customer's person is still known and has not switched this message off."""
        is_wanted = customer.notification_preferences.get(self.template_key) is not False
        return customer.redacted_at is None and (is_wanted or bool(self.skip_notification_check))

    def as_payload(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_payload(cls, payload: dict[str, Any]) -> Self:
        """What a payload leaves out is None; what a newer one adds is ignored."""
        given = {name: payload.get(name) for name in cls.__slots__}
        return cls(**given | {"ctx": payload.get("ctx") or {}})
