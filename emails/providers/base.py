from typing import Protocol

from emails.messages import Message


class ProviderUnavailable(Exception):
    """The provider did not take the message; it may later."""


class OutcomeUnknown(ProviderUnavailable):
    """The provider may have taken the message: it was sent, and no answer came."""


class MessageRefused(Exception):
    """The provider refuses this message, and would do so again."""


class Provider(Protocol):
    name: str

    def send(self, message: Message, *, idempotency_key: str) -> str:
        """Hand a message over and answer with the provider's id of it.

        A key sent twice is one message, as far as the provider knows keys. Raises `ProviderUnavailable`,
        `MessageRefused`.
        """
        ...
