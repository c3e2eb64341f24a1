"""Input fields that accept exactly what the API's conventions allow.

Answers carry ids and cents as decimal strings. Requests may send integers or those same strings, as clients send back
what they have read. Floats and booleans are refused.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from rest_framework import serializers

from commerce import rules
from commerce.errors import ValidationFailed
from commerce.rules import MAX_SAFE_INTEGER
from commerce.rules.formats import MAX_EMAIL, MAX_URL
from commerce.rules.objects import MAX_BYTES, MAX_NODES


def apply_rule(rule: Callable[[object], object], value: object) -> Any:
    """The value as the rule keeps it. Raises DRF's `ValidationError`, so that other fields are validated as well."""
    try:
        return rule(value)
    except ValidationFailed as refusal:
        details: dict[str, list[serializers.ErrorDetail]] = {}
        for error in refusal.errors:
            details.setdefault(error.field, []).append(serializers.ErrorDetail(error.detail, error.code))
        # An error of the value itself has an empty path.
        raise serializers.ValidationError(details[""] if details.keys() == {""} else details) from None


class IntegerField(serializers.Field):
    """A JSON integer within the safe range, and within bounds that default to 0 and 2^53 - 1."""

    takes_strings = False

    def __init__(self, *, min_value: int = 0, max_value: int = MAX_SAFE_INTEGER, **kwargs: Any) -> None:
        self.min_value = min_value
        self.max_value = max_value
        self.rule = rules.integer(min_value=min_value, max_value=max_value, takes_strings=self.takes_strings)
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> int:
        return apply_rule(self.rule, data)

    def to_representation(self, value: int) -> object:
        return value


class IdField(IntegerField):
    """An id: an integer or its decimal string in, a decimal string out."""

    takes_strings = True

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=1, **kwargs)

    def to_representation(self, value: int) -> str:
        return str(value)


class CentsField(IntegerField):
    """An amount in minor units: an integer or its decimal string in, a decimal string out."""

    takes_strings = True

    def to_representation(self, value: int) -> str:
        return str(value)


class ObjectField(serializers.Field):
    """A free-form JSON object, within the bounds of `rules.json_object`."""

    def __init__(self, *, max_bytes: int = MAX_BYTES, max_nodes: int = MAX_NODES, **kwargs: Any) -> None:
        self.max_bytes = max_bytes
        self.rule = rules.json_object(max_bytes=max_bytes, max_nodes=max_nodes)
        super().__init__(**kwargs)

    def to_internal_value(self, data: object) -> dict[str, Any]:
        return apply_rule(self.rule, data)

    def to_representation(self, value: dict[str, object]) -> dict[str, Any]:
        return value


class TextField(serializers.CharField):
    """Text. A number isn't converted."""

    def to_internal_value(self, data: object) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class OptionalTextField(TextField):
    """Text that may be missing, empty or null."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, allow_blank=True, allow_null=True, **kwargs)


class FormattedField(TextField):
    """Text in a format that a rule of the domain checks. `pattern` describes it in the OpenAPI document."""

    rule: Callable[[Any], Any]
    pattern: str | None = None

    def to_internal_value(self, data: Any) -> str:
        return apply_rule(self.rule, super().to_internal_value(data))


class HttpUrlField(FormattedField):
    """An absolute http(s) URL of at most 2,048 characters."""

    rule = staticmethod(rules.http_url)
    pattern = r"^https?://[^\s/?#@]+([/?#]\S*)?$"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_URL, **kwargs)


class TokenField(FormattedField):
    """A machine name such as a carrier code: `^[a-z0-9_-]{1,64}$`."""

    rule = staticmethod(rules.token)
    pattern = "^[a-z0-9_-]{1,64}$"


class HandleField(FormattedField):
    """A name for use in URLs and imports: `^[a-z0-9][a-z0-9-]{0,62}$`."""

    rule = staticmethod(rules.handle)
    pattern = "^[a-z0-9][a-z0-9-]{0,62}$"


class BooleanField(serializers.BooleanField):
    """JSON true or false; `"yes"` and 1 are refused."""

    def to_internal_value(self, data: object) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class QueryBooleanField(serializers.BooleanField):
    """`true` or `false` in a query string."""

    def to_internal_value(self, data: object) -> bool:
        if data not in {"true", "false"}:
            self.fail("invalid", input=data)
        return data == "true"


class QueryIntegerField(IntegerField):
    """An integer of a query string, where everything is text."""

    takes_strings = True


class CurrencyField(FormattedField):
    rule = staticmethod(rules.currency)
    pattern = "^[A-Za-z]{3}$"


class CountryField(FormattedField):
    rule = staticmethod(rules.country)
    pattern = "^[A-Za-z]{2}$"


class LocaleField(FormattedField):
    """A locale in language-REGION form; with `bare_language` also `de` alone."""

    def __init__(self, *, bare_language: bool = False, **kwargs: Any) -> None:
        self.rule = partial(rules.locale, may_be_language=bare_language)
        self.pattern = "^[a-z]{2,3}(-[A-Z]{2})?$" if bare_language else "^[a-z]{2,3}-[A-Z]{2}$"
        super().__init__(**kwargs)


class TimeZoneField(FormattedField):
    rule = staticmethod(rules.time_zone)


class DomainField(FormattedField):
    """A host name, stored in lower case."""

    rule = staticmethod(rules.domain)


class EmailField(serializers.EmailField):
    """An email address of at most 254 characters, stored as typed."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("max_length", MAX_EMAIL)
        super().__init__(**kwargs)

    def to_internal_value(self, data: object) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        email = super().to_internal_value(data)
        # It is also stored in lower case, where some letters become two.
        if len(email.lower()) > (self.max_length or 0):
            self.fail("max_length", max_length=self.max_length)
        return email


class ListField(serializers.ListField):
    """A list of at most `max_length` items. A longer one is refused before its items are validated."""

    def to_internal_value(self, data: Any) -> list[object]:
        # DRF checks the length only after each item.
        if isinstance(data, list) and self.max_length is not None and len(data) > self.max_length:
            raise serializers.ValidationError(
                f"At most {self.max_length} items are allowed.", code="max_length"
            )
        return super().to_internal_value(data)


class WholeField(serializers.Field):
    """A nested object that is always replaced as a whole, also by a PATCH.

    A rule of the domain checks it; `shape` describes it in the OpenAPI document.
    """

    shape: ClassVar[type[serializers.Serializer]]
    rule: Callable[[Any], Any]
    max_bytes: ClassVar[int]

    def to_internal_value(self, data: object) -> dict[str, Any]:
        return apply_rule(self.rule, data)


class DateTimeField(serializers.DateTimeField):
    """ISO 8601 with an offset. A time without one is ambiguous and refused."""

    default_error_messages = {"no_offset": "A timestamp needs a UTC offset, such as Z."}

    def enforce_timezone(self, value: Any) -> Any:
        # DRF would assume the server's time zone.
        if value.tzinfo is None:
            self.fail("no_offset")
        return super().enforce_timezone(value)

    def to_internal_value(self, value: Any) -> Any:
        if not isinstance(value, str):
            self.fail("invalid", format="YYYY-MM-DDThh:mm:ssZ")
        return super().to_internal_value(value)
