"""The registry of settings: their dotted names, defaults, valid values and purposes.

An account's own value wins over the environment variable (`commerce.checkout.reserve_at` is
`COMMERCE_CHECKOUT_RESERVE_AT`), which wins over the default.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

import environ
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import validate_email

from commerce.wording import Wording, mark

Value = str | int | bool

# Shown in place of a secret.
MASK = "********"

# Also reads the file that `<variable>_FILE` names, as container platforms mount secrets.
_env = environ.FileAwareEnv()


class InvalidValue(ValueError):
    """An invalid value of a setting. `code` is that of the field error."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting(ABC):
    """A setting. Secrets are write-only.

    `sent_by` names the settings that say where a secret is sent and how it is protected on the way. An account that
    changes one of them gives the secret again, since whoever may change settings must not learn a stored secret.
    """

    name: str
    # What people call it; the name if it is empty.
    title: str = ""
    default: Value
    help: str
    is_secret: bool = False
    sent_by: tuple[str, ...] = ()
    # Credentials of one owner: an account with any of its own gets none of the installation's.
    of_one_owner: bool = False

    @property
    def variable(self) -> str:
        """The name of its environment variable."""
        return self.name.upper().replace(".", "_")

    @abstractmethod
    def check(self, value: object) -> Value:
        """Validate a JSON value; raises `InvalidValue`."""

    def check_own(self, value: object) -> Value:
        """Validate a value that an account sets; raises `InvalidValue`."""
        return self.check(value)

    def parse(self, text: str) -> Value:
        """Parse the text of an environment variable; raises `InvalidValue`."""
        return self.check(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Setting):
    choices: tuple[str, ...]
    # What people call some of the choices.
    labels: Mapping[str, str] = field(default_factory=dict)
    # An account may choose these only if the installation has chosen the same.
    of_installation: tuple[str, ...] = ()

    def list_own_choices(self) -> tuple[str, ...]:
        """The values that an account may set."""
        of_others = {one for one in self.of_installation if one != installation_value(self.name)}
        return tuple(choice for choice in self.choices if choice not in of_others)

    def check(self, value: object) -> Value:
        return _check_choice(value, self.choices)

    def check_own(self, value: object) -> Value:
        return _check_choice(value, self.list_own_choices())


def _check_choice(value: object, choices: tuple[str, ...]) -> Value:
    if value not in choices:
        raise InvalidValue(
            "invalid_choice", Wording("Must be one of: %(choices)s.", choices=", ".join(choices))
        )
    return str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Integer(Setting):
    min_value: int
    max_value: int

    def check(self, value: object) -> Value:
        # In Python, true and false are integers too.
        if not isinstance(value, int) or isinstance(value, bool):
            raise InvalidValue("invalid", "A JSON integer is required.")
        if not self.min_value <= value <= self.max_value:
            raise InvalidValue(
                "out_of_range",
                Wording(
                    "Must be from %(min_value)s to %(max_value)s.",
                    min_value=self.min_value,
                    max_value=self.max_value,
                ),
            )
        return value

    def parse(self, text: str) -> Value:
        # `int()` raises errors of its own for text that is no number or has thousands of digits.
        is_short_number = text.isascii() and text.isdigit() and len(text) < 10
        return self.check(int(text) if is_short_number else text)


_TRUTHS = {"true": True, "false": False, "1": True, "0": False, "on": True, "off": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag(Setting):
    def check(self, value: object) -> Value:
        if not isinstance(value, bool):
            raise InvalidValue("invalid", "Must be true or false.")
        return value

    def parse(self, text: str) -> Value:
        return self.check(_TRUTHS.get(text.lower(), text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Setting):
    max_length: int = 255

    def check(self, value: object) -> Value:
        if not isinstance(value, str) or not (value.isprintable() and len(value) <= self.max_length):
            raise InvalidValue(
                "invalid",
                Wording("Must be a printable text of at most %(count)s characters.", count=self.max_length),
            )
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceKey(Text):
    """A secret that is sent to a service in an HTTP header, or empty."""

    def check(self, value: object) -> Value:
        key = str(Text.check(self, value))  # Not `super()`, which fails in a dataclass with slots.
        if not fits_header(key):
            raise InvalidValue("invalid", "Must consist of printable ASCII characters without spaces.")
        return key


def fits_header(key: str) -> bool:
    """Whether an HTTP header can hold a key."""
    return key.isascii() and key.isprintable() and " " not in key


@dataclass(frozen=True, slots=True, kw_only=True)
class Email(Text):
    """An email address, or empty."""

    def check(self, value: object) -> Value:
        address = Text.check(self, value)  # As above.
        try:
            if address:
                validate_email(str(address))
        except ValidationError:
            raise InvalidValue("invalid", "Must be an email address.") from None
        return address


_OWN = (
    Choice(
        name="commerce.checkout.reserve_at",
        title=mark("Stock is reserved"),
        default="checkout_enter",
        choices=("checkout_enter", "payment_start"),
        labels={
            "checkout_enter": mark("When the checkout is created"),
            "payment_start": mark("When its payment starts"),
        },
        help=mark("When stock is reserved: when the checkout is created, or when its payment starts."),
    ),
    Integer(
        name="commerce.checkout.session_ttl_minutes",
        title=mark("Minutes for a checkout"),
        default=60,
        min_value=1,
        max_value=1440,
        help=mark("Minutes until an open checkout is abandoned and its stock released."),
    ),
    Text(
        name="commerce.email.provider_webhook_secret",
        title=mark("Email provider: webhook secret"),
        default="",
        is_secret=True,
        help=mark(
            "Verifies the email provider's events. Without it they are refused, unless the installation allows unsigned ones."
        ),
    ),
    Choice(
        name="commerce.email.provider",
        title=mark("Email provider"),
        default="local",
        choices=(
            "local",
            "smtp",
            "resend",
            "brevo",
            "mailersend",
            "mailgun",
            "mailtrap",
            "mandrill",
            "postmark",
            "sparkpost",
        ),
        labels={"local": mark("A folder of the installation"), "smtp": mark("An SMTP server")},
        # Its folder isn't pruned, and nothing in it reaches a customer.
        of_installation=("local",),
        help=mark("Who delivers emails; local leaves them in a folder of the installation."),
    ),
    ServiceKey(
        name="commerce.email.api_key",
        title=mark("Email provider: API key"),
        default="",
        is_secret=True,
        help=mark("API key of the provider; not used for local and smtp."),
        of_one_owner=True,
    ),
    Text(
        name="commerce.email.smtp_host",
        title=mark("SMTP server"),
        default="",
        help=mark("Name of the SMTP server."),
        of_one_owner=True,
    ),
    Integer(
        name="commerce.email.smtp_port",
        title=mark("SMTP port"),
        default=587,
        min_value=1,
        max_value=65535,
        help=mark("Port of the SMTP server."),
        of_one_owner=True,
    ),
    Choice(
        name="commerce.email.smtp_security",
        title=mark("SMTP encryption"),
        default="starttls",
        choices=("starttls", "tls", "none"),
        labels={"starttls": "STARTTLS", "tls": "TLS", "none": mark("Not encrypted")},
        help=mark("How the connection to the SMTP server is encrypted."),
        of_one_owner=True,
    ),
    Text(
        name="commerce.email.smtp_username",
        title=mark("SMTP user name"),
        default="",
        help=mark("User name for the SMTP server; if empty, there is no log-in."),
        of_one_owner=True,
    ),
    Text(
        name="commerce.email.smtp_password",
        title=mark("SMTP password"),
        default="",
        is_secret=True,
        help=mark("Password for the SMTP user name."),
        of_one_owner=True,
        sent_by=(
            "commerce.email.smtp_host",
            "commerce.email.smtp_port",
            "commerce.email.smtp_security",
        ),
    ),
    Email(
        name="commerce.email.reply_to",
        title=mark("Replies to"),
        default="",
        max_length=254,
        help=mark("Address for replies, if not the sender's."),
    ),
)

_declared: list[Callable[[], Iterable[Setting]]] = [lambda: _OWN]


def register_settings(settings: Callable[[], Iterable[Setting]]) -> None:
    """Add settings to the registry. Apps call it in their `ready()`.

    The callable is called at each use, because the settings may depend on modules that can't be imported that early.
    """
    _declared.append(settings)


def known_settings() -> dict[str, Setting]:
    """Every setting, by its name."""
    return {setting.name: setting for settings in _declared for setting in settings()}


# The environment of a process doesn't change, and every request reads some settings.
@cache
def installation_value(name: str) -> Value:
    """Return the environment's value, else the default; raises `ImproperlyConfigured`."""
    setting = known_settings()[name]
    text = _env.str(setting.variable, default=None)
    if text is None:
        return setting.default
    try:
        # Files that hold secrets usually end with a newline.
        return setting.parse(text.strip())
    except InvalidValue as error:
        raise ImproperlyConfigured(f"{setting.variable}: {error}") from None
