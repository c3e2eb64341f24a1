"""Rules for plain values: text, integers, choices and points in time."""

from collections.abc import Container
from datetime import datetime

from commerce.wording import Wording

from .fields import Rule, refuse, require_given

# The largest integer that every JSON parser keeps exactly.
MAX_SAFE_INTEGER = 2**53 - 1


def text(max_length: int, *, may_be_blank: bool = False, is_trimmed: bool = True) -> Rule:
    """Text of at most this many characters."""

    def check(value: object) -> str:
        kept = _text(value, is_trimmed=is_trimmed, may_be_blank=may_be_blank)
        if len(kept) > max_length:
            refuse(
                "max_length",
                Wording("Ensure this field has no more than %(count)s characters.", count=max_length),
            )
        # PostgreSQL can store neither NUL characters nor lone surrogates, and JSON can contain both.
        if "\x00" in kept:
            refuse("null_characters_not_allowed", "Null characters are not allowed.")
        lone = next((ord(character) for character in kept if 0xD800 <= ord(character) <= 0xDFFF), None)
        if lone is not None:
            refuse(
                "surrogate_characters_not_allowed",
                Wording("Surrogate characters are not allowed: U+%(code)s.", code=f"{lone:X}"),
            )
        return kept

    return check


def filled_text(value: object) -> str:
    """Text that isn't blank, trimmed: the beginning of every rule for a format."""
    return _text(value, is_trimmed=True, may_be_blank=False)


def integer(*, min_value: int = 0, max_value: int = MAX_SAFE_INTEGER, takes_strings: bool = False) -> Rule:
    """An integer between bounds. With `takes_strings`, also in decimal digits, as answers carry ids and cents."""

    def check(value: object) -> int:
        require_given(value)
        if takes_strings and isinstance(value, str):
            digits = value.removeprefix("-")
            # Python also takes digits of other scripts. More than 16 digits are beyond every bound.
            if digits.isascii() and digits.isdigit() and len(digits) <= 16:
                value = int(value)
        # In Python, a bool is an int.
        if not isinstance(value, int) or isinstance(value, bool):
            refuse("invalid", "A JSON integer is required.")
        if value < min_value:
            refuse("min_value", Wording("Must be at least %(bound)s.", bound=min_value))
        if value > max_value:
            refuse("max_value", Wording("Must be at most %(bound)s.", bound=max_value))
        return value

    return check


def cents(*, min_value: int = 0, max_value: int = MAX_SAFE_INTEGER) -> Rule:
    """An amount in minor units."""
    return integer(min_value=min_value, max_value=max_value, takes_strings=True)


row_id = integer(min_value=1, takes_strings=True)


def choice(choices: Container[str]) -> Rule:
    def check(value: object) -> str:
        require_given(value)
        if not isinstance(value, str) or value not in choices:
            refuse("invalid_choice", Wording('"%(value)s" is not a valid choice.', value=value))
        return value

    return check


def boolean(value: object) -> bool:
    require_given(value)
    if not isinstance(value, bool):
        refuse("invalid", "Must be a valid boolean.")
    return value


def moment(value: object) -> datetime:
    """A point in time; one without an offset is ambiguous."""
    require_given(value)
    if not isinstance(value, datetime):
        refuse("invalid", "A point in time is required.")
    if value.tzinfo is None:
        refuse("no_offset", "A timestamp needs a UTC offset, such as Z.")
    return value


def _text(value: object, *, is_trimmed: bool, may_be_blank: bool) -> str:
    require_given(value)
    if not isinstance(value, str):
        refuse("invalid", "Not a valid string.")
    kept = value.strip() if is_trimmed else value
    if not kept and not may_be_blank:
        refuse("blank", "This field may not be blank.")
    return kept
