"""What accounts, markets, keys and their staff must be like, whichever interface they come through."""

from django.core.exceptions import ValidationError

from accounts.models import ApiKey, Market, User
from accounts.roles import STAFF_SCOPES
from commerce.principal import SCOPES
from commerce.rules import (
    Fields,
    boolean,
    choice,
    country,
    currency,
    domain,
    email,
    handle,
    integer,
    items,
    locale,
    moment,
    nullable,
    refuse,
    text,
    time_zone,
)

MAX_NAME = 200
MAX_USERNAME = 150
MAX_VAT_NUMBER = 32
# How long a rotated key may still work. A day to a month is usual.
MAX_GRACE_S = 31_536_000
RESERVED_HANDLES = {"accounts", "shipping", "webhooks", "storefront", "openapi"}


def account_handle(value: object) -> str:
    """A handle of two characters or more that isn't part of another URL and never looks like an id."""
    kept = handle(value, min_length=2)
    if kept in RESERVED_HANDLES:
        refuse("reserved", "This handle is reserved.")
    if not any(character.isalpha() for character in kept):
        refuse("needs_letter", "A handle needs a letter, so that it can't be mistaken for an id.")
    return kept


def username(value: object) -> str:
    """A username that Django's own forms accept, in their normal form."""
    kept = User.normalize_username(text(MAX_USERNAME)(value))
    try:
        User.username_validator(kept)
    except ValidationError as error:
        refuse("invalid_username", " ".join(error.messages))
    return kept


WORKSPACE = Fields(required={"name": text(MAX_NAME)})

_DETAILS = {
    "default_locale": locale,
    "default_timezone": time_zone,
    "country_code": nullable(country),
    "vat_number": nullable(text(MAX_VAT_NUMBER)),
    "email_from": nullable(email),
}
NEW_ACCOUNT = Fields(
    required={"handle": account_handle, "name": text(MAX_NAME), "default_currency": currency},
    optional=_DETAILS,
)
# Without the handle, which can't change.
ACCOUNT = Fields(required={"name": text(MAX_NAME), "default_currency": currency}, optional=_DETAILS)

_MARKET = {
    "handle": handle,
    "name": text(MAX_NAME),
    "currency": currency,
    "locale": locale,
    "country_code": country,
}
_MARKET_OPTIONS = {"domain": nullable(domain), "prices_include_tax": boolean}
NEW_MARKET = Fields(required=_MARKET, optional=_MARKET_OPTIONS)
MARKET = Fields(required=_MARKET, optional=_MARKET_OPTIONS | {"status": choice(Market.Status.values)})

KEY = Fields(
    required={"kind": choice(ApiKey.Kind.values), "name": text(MAX_NAME)},
    optional={
        "scopes": nullable(items(choice(SCOPES), max_length=len(SCOPES))),
        "expires_at": nullable(moment),
    },
)
MAX_ROLE_NAME = 80
ROLE = Fields(
    required={
        "name": text(MAX_ROLE_NAME),
        "scopes": items(choice(STAFF_SCOPES), max_length=len(STAFF_SCOPES), may_be_empty=False),
    }
)
INVITATION = Fields(required={"email": email})
ROTATION = Fields(required={"grace_seconds": integer(max_value=MAX_GRACE_S)})

OPERATOR_LOGIN = Fields(required={"username": username})
