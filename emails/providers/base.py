"""The interface of email providers, and their errors."""

from typing import Protocol

from emails.messages import Message

# The providers to which a message with a repeated key is the same message.
HONOURING_KEYS = {"local", "resend"}


class ProviderUnavailable(Exception):
    """The provider did not accept the message, but may later."""


class ProviderBusy(ProviderUnavailable):
    """The provider limits the rate of all messages, and may be tried again after `for_s` seconds."""

    def __init__(self, detail: str, *, for_s: float) -> None:
        super().__init__(detail)
        self.for_s = for_s


class ProviderDown(ProviderUnavailable):
    """The provider can't be reached or did not answer in time."""


class OutcomeUnknown(ProviderDown):
    """The provider may have accepted the message: it was sent, and no answer came."""


class MessageRefused(Exception):
    """The provider refuses this message, and would again."""


class Provider(Protocol):
    name: str

    def send(self, message: Message, *, idempotency_key: str) -> str:
        """Hand a message over and return the provider's id for it.

        A repeated key sends one message, if the provider supports keys. Raises `ProviderUnavailable`,
        `MessageRefused`.
        """
        ...
