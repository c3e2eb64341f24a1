"""Every dotted configuration name: its default, what values it takes, and what it is for.

An account's own value wins over the environment variable (`commerce.checkout.reserve_at` is
`COMMERCE_CHECKOUT_RESERVE_AT`), which wins over the default.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

Value = str | int | bool

# What a secret that is set is shown as.
MASK = "********"

_TRUTHS = {"true": True, "false": False, "1": True, "0": False, "on": True, "off": False}

_env = environ.FileAwareEnv()


class InvalidValue(ValueError):
    """A value that a setting does not take; `code` is the code of the field error."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting(ABC):
    """A configuration name. A secret one is never shown again."""

    name: str
    default: Value
    help: str
    is_secret: bool = False

    @property
    def variable(self) -> str:
        """The environment variable of the same meaning."""
        return self.name.upper().replace(".", "_")

    @abstractmethod
    def checked(self, value: Any) -> Value:
        """A JSON value if it is one that the setting takes; raises `InvalidValue`."""

    def parsed(self, text: str) -> Value:
        """The value that an environment variable spells; raises `InvalidValue`."""
        return self.checked(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Setting):
    choices: tuple[str, ...]

    def checked(self, value: Any) -> Value:
        if value not in self.choices:
            raise InvalidValue("invalid_choice", f"Must be one of: {', '.join(self.choices)}.")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Integer(Setting):
    min_value: int
    max_value: int

    def checked(self, value: Any) -> Value:
        if not isinstance(value, int) or isinstance(value, bool):
            raise InvalidValue("invalid", "A JSON integer is required.")
        if not self.min_value <= value <= self.max_value:
            raise InvalidValue("out_of_range", f"Must be from {self.min_value} to {self.max_value}.")
        return value

    def parsed(self, text: str) -> Value:
        is_short_number = text.isascii() and text.isdigit() and len(text) < 10
        return self.checked(int(text) if is_short_number else text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag(Setting):
    def checked(self, value: Any) -> Value:
        if not isinstance(value, bool):
            raise InvalidValue("invalid", "Must be true or false.")
        return value

    def parsed(self, text: str) -> Value:
        return self.checked(_TRUTHS.get(text.lower(), text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Setting):
    max_length: int = 255

    def checked(self, value: Any) -> Value:
        if not isinstance(value, str) or not (value.isprintable() and len(value) <= self.max_length):
            raise InvalidValue(
                "invalid", f"Must be a printable text of at most {self.max_length} characters."
            )
        return value


SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        Choice(
            name="commerce.checkout.reserve_at",
            default="checkout_enter",
            choices=("checkout_enter", "payment_start"),
            help="When stock is reserved: as the checkout is created, or as its payment starts.",
        ),
        Integer(
            name="commerce.checkout.session_ttl_minutes",
            default=60,
            min_value=1,
            max_value=1440,
            help="Minutes until an open checkout is abandoned and its stock released.",
        ),
        Flag(
            name="commerce.payments.test_card",
            default=False,
            help="Offers the test card gateway, which moves no money.",
        ),
        Text(
            name="commerce.payments.stripe_secret_key",
            default="",
            is_secret=True,
            help="Offers cards through Stripe, charged for the owner of this key.",
        ),
        Text(
            name="commerce.payments.stripe_webhook_secret",
            default="",
            is_secret=True,
            help="Key of Stripe's signatures; while it is empty, no event of Stripe is taken.",
        ),
        Text(
            name="commerce.email.provider_webhook_secret",
            default="",
            is_secret=True,
            help="Key of the email provider's signatures; while it is empty none is asked for.",
        ),
    )
}


@cache
def installation_value(name: str) -> Value:
    """The value of the environment, else the default; raises `ImproperlyConfigured`."""
    setting = SETTINGS[name]
    text = _env.str(setting.variable, default=None)
    if text is None:
        return setting.default
    try:
        return setting.parsed(text.strip())
    except InvalidValue as error:
        raise ImproperlyConfigured(f"{setting.variable}: {error}") from None
