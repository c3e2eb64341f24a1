"""An account as a sender of messages: what is read of it while its scope is open, for the calls after that."""

from dataclasses import dataclass

from accounts.models import Account
from accounts.queries import current_account
from commerce.customers.models import Customer
from commerce.outbox.models import KeySpace, OutboxDispatch
from emails.mail_settings import MailSettings, mail_settings
from emails.messages import Message, render_message
from emails.own_templates.queries import template_in_force
from emails.providers import MessageRefused, ProviderUnavailable, provider_of
from emails.requests import EmailRequest
from emails.template_sources import TemplateSource


@dataclass(frozen=True, slots=True)
class Draft:
    """The template of a message, and the locale that was wanted, to which the template's is near."""

    source: TemplateSource
    locale: str


@dataclass(frozen=True, slots=True)
class Sender:
    account: Account
    settings: MailSettings

    def draft(self, request: EmailRequest, *, customer: Customer | None) -> Draft:
        """Raises `TemplateNotFound`."""
        locale = request.locale or (customer and customer.locale) or self.account.default_locale
        source = template_in_force(
            request.template_key, locale=locale, default_locale=self.account.default_locale
        )
        return Draft(source=source, locale=locale)

    def render(self, request: EmailRequest, draft: Draft) -> Message:
        """No transaction may be open. Raises `TemplateRefused`, `RendererUnavailable`."""
        return render_message(
            account=self.account,
            request=request,
            source=draft.source,
            locale=draft.locale,
            reply_to=self.settings.reply_to,
        )

    def hand_off(self, message: Message, *, dispatch: OutboxDispatch) -> str:
        """The provider's id of the message; no transaction may be open.

        Raises `MessageRefused`, `ProviderUnavailable`.
        """
        provider_key = _provider_key(self.account, dispatch)
        try:
            return provider_of(self.settings).send(message, idempotency_key=provider_key)
        except (MessageRefused, ProviderUnavailable) as error:
            # What the provider says is kept with the dispatch and told to clients.
            error.args = (self.settings.without_credentials(str(error)),)
            raise


def _provider_key(account: Account, dispatch: OutboxDispatch) -> str:
    """Keys are unique within a space of an account, and the provider may be the same for many accounts."""
    space = "" if dispatch.key_space == KeySpace.PRODUCT else f"{dispatch.key_space}:"
    return f"{account.pk}:{space}{dispatch.idempotency_key}"


def current_sender() -> Sender:
    """The account in scope."""
    return Sender(account=current_account(), settings=mail_settings())
