"""Input fields that accept exactly what the API's conventions allow.

Answers carry ids and cents as decimal strings. Requests may send integers or those same strings, as clients send back
what they have read. Floats and booleans are refused.
"""

import re
from typing import Any, ClassVar

import orjson
from rest_framework import serializers

from commerce.reference import countries, currencies, time_zones

from .objects import MAX_SAFE_INTEGER, ObjectField  # noqa: F401  a field like the others

_DECIMAL = re.compile(r"-?[0-9]{1,16}")
_HTTP_URL = re.compile(r"https?://[^\s/?#@]+([/?#]\S*)?")
_LANGUAGE_REGION = re.compile(r"[a-z]{2,3}-[A-Z]{2}")
_DOMAIN = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))+")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Z]{2})?")


class IntegerField(serializers.Field):
    """A JSON integer within the safe range, and within bounds that default to 0 and 2^53 - 1."""

    default_error_messages = {
        "invalid": "A JSON integer is required.",
        "min_value": "Must be at least {min_value}.",
        "max_value": "Must be at most {max_value}.",
    }
    takes_strings = False

    def __init__(self, *, min_value: int = 0, max_value: int = MAX_SAFE_INTEGER, **kwargs: Any) -> None:
        self.min_value = min_value
        self.max_value = max_value
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> int:
        if self.takes_strings and isinstance(data, str) and _DECIMAL.fullmatch(data):
            data = int(data)
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        if data < self.min_value:
            self.fail("min_value", min_value=self.min_value)
        if data > self.max_value:
            self.fail("max_value", max_value=self.max_value)
        return data

    def to_representation(self, value: int) -> Any:
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


class TextField(serializers.CharField):
    """Text. A number isn't converted."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class OptionalTextField(TextField):
    """Text that may be missing, empty or null."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, allow_blank=True, allow_null=True, **kwargs)


class HttpUrlField(TextField):
    """An absolute http(s) URL of at most 2,048 characters."""

    default_error_messages = {"invalid_url": "An absolute http or https URL is required."}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=2048, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        url = super().to_internal_value(data)
        if not _HTTP_URL.fullmatch(url):
            self.fail("invalid_url")
        return url


class TokenField(TextField):
    """A machine name such as a carrier code: `^[a-z0-9_-]{1,64}$`."""

    default_error_messages = {"invalid_token": "Lower-case letters, digits, _ and - only, 64 at the most."}

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not re.fullmatch(r"[a-z0-9_-]{1,64}", text):
            self.fail("invalid_token")
        return text


class HandleField(TextField):
    """A name for use in URLs and imports: `^[a-z0-9][a-z0-9-]{0,62}$`."""

    default_error_messages = {
        "invalid_handle": "Lower-case letters, digits and hyphens, beginning with none of the latter."
    }

    def __init__(self, *, min_length: int = 1, **kwargs: Any) -> None:
        self.shortest = min_length
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,62}", text) or len(text) < self.shortest:
            self.fail("invalid_handle")
        return text


class BooleanField(serializers.BooleanField):
    """JSON true or false; `"yes"` and 1 are refused."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class QueryBooleanField(serializers.BooleanField):
    """`true` or `false` in a query string."""

    def to_internal_value(self, data: Any) -> bool:
        if data not in {"true", "false"}:
            self.fail("invalid", input=data)
        return data == "true"


class QueryIntegerField(IntegerField):
    """An integer of a query string."""

    takes_strings = True


class CurrencyField(TextField):
    default_error_messages = {"unknown_currency": "Not an ISO 4217 currency code."}

    def to_internal_value(self, data: Any) -> str:
        code = super().to_internal_value(data).upper()
        if code not in currencies():
            self.fail("unknown_currency")
        return code


class CountryField(TextField):
    default_error_messages = {"unknown_country": "Not an ISO 3166 country code."}

    def to_internal_value(self, data: Any) -> str:
        code = super().to_internal_value(data).upper()
        if code not in countries():
            self.fail("unknown_country")
        return code


class LocaleField(TextField):
    """A locale in language-REGION form; with `bare_language` also `de` alone."""

    default_error_messages = {"invalid_locale": "A locale has the form language-REGION, such as en-US."}

    def __init__(self, *, bare_language: bool = False, **kwargs: Any) -> None:
        self.pattern = _LANGUAGE if bare_language else _LANGUAGE_REGION
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not self.pattern.fullmatch(text):
            self.fail("invalid_locale")
        return text


class TimeZoneField(TextField):
    default_error_messages = {"unknown_time_zone": "Not a time zone of the tz database."}

    def to_internal_value(self, data: Any) -> str:
        name = super().to_internal_value(data)
        if name not in time_zones():
            self.fail("unknown_time_zone")
        return name


class DomainField(TextField):
    """A host name, stored in lower case."""

    default_error_messages = {"invalid_domain": "Not a host name."}

    def to_internal_value(self, data: Any) -> str:
        domain = super().to_internal_value(data).lower()
        if len(domain) > 253 or not _DOMAIN.fullmatch(domain):
            self.fail("invalid_domain")
        return domain


class EmailField(serializers.EmailField):
    """An email address of at most 254 characters, stored as typed."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("max_length", 254)
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        email = super().to_internal_value(data)
        # Also stored in lower case, where some letters become two.
        if len(email.lower()) > (self.max_length or 0):
            self.fail("max_length", max_length=self.max_length)
        return email


class ListField(serializers.ListField):
    """A list of at most `max_length` items. A longer one is refused before its items are validated."""

    def to_internal_value(self, data: Any) -> list[Any]:
        if isinstance(data, list) and self.max_length is not None and len(data) > self.max_length:
            raise serializers.ValidationError(
                f"At most {self.max_length} items are taken.", code="max_length"
            )
        return super().to_internal_value(data)


class WholeField(serializers.Field):
    """A nested object that is always replaced as a whole, also by a PATCH."""

    shape: ClassVar[type[serializers.Serializer]]
    max_bytes: ClassVar[int] = 128 * 1024

    default_error_messages = {"too_large": "The object takes more than {max_bytes} bytes."}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        serializer = self.shape(data=data)
        serializer.is_valid(raise_exception=True)
        if len(orjson.dumps(serializer.validated_data)) > self.max_bytes:
            self.fail("too_large", max_bytes=self.max_bytes)
        return serializer.validated_data


class DateTimeField(serializers.DateTimeField):
    """ISO 8601 with an offset. A time without one is ambiguous and refused."""

    default_error_messages = {"no_offset": "A timestamp needs an offset, such as Z."}

    def enforce_timezone(self, value: Any) -> Any:
        if value.tzinfo is None:
            self.fail("no_offset")
        return super().enforce_timezone(value)

    def to_internal_value(self, value: Any) -> Any:
        if not isinstance(value, str):
            self.fail("invalid", format="YYYY-MM-DDThh:mm:ssZ")
        return super().to_internal_value(value)
