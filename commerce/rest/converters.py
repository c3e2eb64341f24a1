"""Path converters: an impossible id is a 404 instead of an error in the database."""

from django.urls import register_converter

# PostgreSQL's largest bigint.
MAX_ID = 2**63 - 1


class IdConverter:
    regex = "[0-9]{1,19}"

    def to_python(self, value: str) -> int:
        number = int(value)
        if not 0 < number <= MAX_ID:
            # Django then goes on to other URLs, and answers 404 in the end.
            raise ValueError(value)
        return number

    def to_url(self, value: int) -> str:
        return str(value)


class TokenConverter:
    """An opaque token of a cart, checkout or order."""

    regex = "[A-Za-z0-9_-]{1,64}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class HandleConverter(TokenConverter):
    """An account handle; the operation decides whether it exists."""


class LocaleConverter(TokenConverter):
    """A language, or language-REGION."""

    regex = "[a-z]{2,3}(?:-[A-Z]{2})?"


def register() -> None:
    register_converter(IdConverter, "id")
    register_converter(TokenConverter, "token")
    register_converter(HandleConverter, "handle")
    register_converter(LocaleConverter, "locale")
