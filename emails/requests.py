from dataclasses import asdict, dataclass
from typing import Any, Self

from commerce.customers.models import Customer
from commerce.customers.notifications import wants_email
from commerce.mail import find_scope_to_read
from commerce.principal import Holder

# The keys of a payload that hold personal data.
PERSONAL_KEYS = ["to_email", "locale", "ctx"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailRequest:
    """The payload of a `send_email` dispatch. `ctx` holds the variables of the templates."""

    template_key: str
    to_email: str
    customer_id: int | None
    locale: str | None
    ctx: dict[str, object]
    reference_type: str | None
    reference_id: int | None
    # None in payloads of the product's own emails, which don't have the key.
    skip_notification_check: bool | None = None

    def may_reach(self, customer: Customer) -> bool:
        """Whether the customer isn't redacted and hasn't switched this kind of email off."""
        is_wanted = bool(self.skip_notification_check) or wants_email(customer, self.template_key)
        return customer.redacted_at is None and is_wanted

    def as_payload(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def from_payload(cls, payload: dict[str, Any]) -> Self:
        """A missing key is None."""
        # During a deployment, a payload may come from a newer release and have keys that this one doesn't know.
        given = {name: payload.get(name) for name in cls.__slots__}
        return cls(**given | {"ctx": payload.get("ctx") or {}})


def hide_secret_variables(payload: dict[str, Any], holder: Holder) -> dict[str, Any]:
    """Return a payload without the variables of an email that only keys with another scope may read."""
    scope = find_scope_to_read(payload.get("template_key", ""))
    return payload if scope is None or holder.may(scope) else payload | {"ctx": None}
