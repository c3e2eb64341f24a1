"""A rendered message: stored with its dispatch, handed to the provider, and kept with the delivery."""

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """`locale` is the requested one; the template may be in a near one."""

    from_name: str
    from_email: str
    to_email: str
    locale: str
    subject: str
    html: str
    text: str
    reply_to: str = ""

    def as_dict(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_dict(cls, stored: dict[str, str]) -> Self:
        """A field that an older release didn't store has its default."""
        return cls(**{name: stored[name] for name in cls.__slots__ if name in stored})


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The sender that recipients see. See emails/origins.py."""

    name: str
    email: str
    reply_to: str
