from typing import Protocol

from emails.messages import Message


class ProviderUnavailable(Exception):
    """The provider did not take the message; it may later."""


class ProviderBusy(ProviderUnavailable):
    """The provider takes no more of anybody's messages for this time, in seconds."""

    def __init__(self, detail: str, *, for_s: float) -> None:
        super().__init__(detail)
        self.for_s = for_s


class ProviderDown(ProviderUnavailable):
    """The provider can't be reached, or gave no answer in time."""


class OutcomeUnknown(ProviderDown):
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
