"""How an account's messages are sent: its own provider or the installation's."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from django.conf import settings

from commerce.configuration.queries import read_own_settings
from commerce.configuration.registry import Value, installation_value, known_settings
from commerce.outbox.error_texts import remove_secrets

_PREFIX = "commerce.email."


@dataclass(frozen=True, slots=True, kw_only=True)
class MailSettings:
    """The settings `commerce.email.*`; a field has the last part of the name."""

    provider: str
    api_key: str = field(repr=False)
    smtp_host: str
    smtp_port: int
    smtp_security: str
    smtp_username: str
    smtp_password: str = field(repr=False)
    reply_to: str
    # Whether the account has its own provider or server, as opposed to the installation's.
    is_own: bool = False
    # Whether the sender's domain needs no verification.
    may_send_as_anybody: bool = False
    # Whether the SMTP server may be in our own network: only one that the installation has set.
    allow_private: bool
    # The installation's mail server, to which the account's own server must not resolve. Empty if nothing forbids it.
    must_not_reach: str = ""

    @property
    def server(self) -> str:
        """The name under which the server's failures are remembered. It holds no credentials."""
        is_smtp = self.provider == "smtp"
        return f"smtp://{self.smtp_host.lower()}:{self.smtp_port}" if is_smtp else self.provider

    def remove_credentials(self, text: str) -> str:
        """Remove credentials from a server's answer, which may repeat them, and which is stored and shown."""
        secrets = [self.api_key]
        if self.smtp_password:
            # RFC 4616, section 2: AUTH PLAIN.
            log_in = f"\0{self.smtp_username}\0{self.smtp_password}"
            encoded = [b64encode(word.encode()).decode() for word in (log_in, self.smtp_password)]
            secrets += [self.smtp_password, *encoded]
        return remove_secrets(text, secrets)


_NAMES = {
    one.name: _PREFIX + one.name
    for one in fields(MailSettings)
    if one.name not in {"is_own", "may_send_as_anybody", "allow_private", "must_not_reach"}
}
# Must never be sent to a server that someone else has set.
_OF_ONE_OWNER = {name for name in _NAMES.values() if known_settings()[name].of_one_owner}


def read_mail_settings() -> MailSettings:
    """The settings of the account in scope."""
    return choose_mail_settings(read_own_settings())


def choose_mail_settings(own: Mapping[str, Value]) -> MailSettings:
    """The settings of an account that has set these itself.

    An account with its own provider or server gets none of the installation's credentials, which would be sent there.
    """
    shared_provider = installation_value(_PREFIX + "provider")
    # An account that names the installation's provider has none of its own, unless it also sets a key or a server.
    has_provider = own.get(_PREFIX + "provider", shared_provider) != shared_provider
    is_own = has_provider or bool(own.keys() & _OF_ONE_OWNER)

    def choose_value(name: str) -> Value:
        if name in own:
            return own[name]
        return (
            known_settings()[name].default if is_own and name in _OF_ONE_OWNER else installation_value(name)
        )

    values: dict[str, Any] = {field_name: choose_value(name) for field_name, name in _NAMES.items()}
    # The installation's mail server may trust our address, no matter who has set it.
    relay = _normalise_host(installation_value(_PREFIX + "smtp_host"))
    is_smtp = values["provider"] == "smtp"
    is_our_server = is_smtp and _normalise_host(values["smtp_host"]) == relay
    is_unchecked = is_own and not is_our_server and not settings.EMAIL_TRUST_SENDER_DOMAINS
    return MailSettings(
        **values,
        is_own=is_own,
        may_send_as_anybody=is_unchecked or settings.EMAIL_TRUST_SENDER_DOMAINS,
        allow_private=not is_own or settings.OUTSIDE_ALLOW_PRIVATE,
        must_not_reach=relay if is_smtp and is_unchecked else "",
    )


def _normalise_host(name: Value) -> str:
    # DNS ignores case, and a name with a dot at its end is the same.
    return str(name).strip().rstrip(".").lower()
