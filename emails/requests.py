from dataclasses import dataclass
from typing import Any, Self


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

    @classmethod
    def from_payload(cls, payload: dict[str, Any]) -> Self:
        """What a payload leaves out is None; what a newer one adds is ignored."""
        given = {name: payload.get(name) for name in cls.__slots__}
        return cls(**given | {"ctx": payload.get("ctx") or {}})
