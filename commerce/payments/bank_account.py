"""The bank account to which customers of a shop transfer what they owe."""

from collections.abc import Mapping
from dataclasses import dataclass

from stdnum import bic, iban
from stdnum.exceptions import ValidationError

from commerce.configuration.registry import InvalidValue, Text, Value, installation_value
from commerce.wording import mark

_PREFIX = "commerce.payments.bank_account_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Iban(Text):
    """An IBAN (ISO 13616) with a valid checksum, or empty. Spaces and small letters are taken as people type them."""

    def check(self, value: object) -> Value:
        text = str(Text.check(self, value))  # Not `super()`, which fails in a dataclass with slots.
        if not text:
            return ""
        try:
            return str(iban.validate(text, check_country=False))
        except ValidationError:
            raise InvalidValue("invalid_iban", "Must be an IBAN: one of its digits may be wrong.") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bic(Text):
    """A BIC (ISO 9362), or empty."""

    def check(self, value: object) -> Value:
        text = str(Text.check(self, value))
        if not text:
            return ""
        try:
            return str(bic.validate(text))
        except ValidationError:
            raise InvalidValue("invalid_bic", "Must be a BIC of 8 or 11 characters.") from None


SETTINGS = (
    Text(
        name=f"{_PREFIX}holder",
        title=mark("Bank account: holder"),
        default="",
        max_length=70,
        help=mark(
            "Holder of the bank account to which customers transfer money. Shown in the confirmation email."
        ),
        of_one_owner=True,
    ),
    Iban(
        name=f"{_PREFIX}iban",
        title=mark("Bank account: IBAN"),
        default="",
        max_length=42,
        help=mark("IBAN of the bank account; if empty, the email names no account."),
        of_one_owner=True,
    ),
    Bic(
        name=f"{_PREFIX}bic",
        title=mark("Bank account: BIC"),
        default="",
        max_length=11,
        help=mark("BIC of the bank, which transfers from outside the SEPA area need."),
        of_one_owner=True,
    ),
    Text(
        name=f"{_PREFIX}note",
        title=mark("Bank account: note"),
        default="",
        max_length=255,
        help=mark("Anything else that customers need for a transfer, such as a local account number."),
        of_one_owner=True,
    ),
)


@dataclass(frozen=True, slots=True)
class BankAccount:
    """The account in the words of the email; each may be empty. The IBAN is in groups of four, as it is printed."""

    holder: str
    iban: str
    bic: str
    note: str


def find_bank_account(own: Mapping[str, Value]) -> BankAccount | None:
    """Find the bank account among the values that an account has set itself; None if neither it nor the installation has one."""
    names = [setting.name for setting in SETTINGS]
    # Never one shop's account number with the installation's holder.
    has_own = any(own.get(name) for name in names)
    values = [own.get(name, "") if has_own else installation_value(name) for name in names]
    holder, number, code, note = map(str, values)
    if not number and not note:
        return None
    # Settings are stored as they were typed.
    return BankAccount(holder, str(iban.format(number)), str(bic.compact(code)), note)
