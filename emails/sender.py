"""An account as a sender of messages: what is read of it while its scope is open, for the calls after that."""

from dataclasses import dataclass, replace

from django.conf import settings as django_settings
from django.utils import timezone

from accounts.models import Account
from accounts.queries import current_account
from commerce.customers.models import Customer
from commerce.outbox.models import KeySpace, OutboxDispatch
from emails.mail_settings import MailSettings, mail_settings
from emails.messages import Message, Origin, render_message
from emails.origins import origin_of
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
    origin: Origin

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
            origin=self.origin,
        )

    def hand_off(self, message: Message, *, dispatch: OutboxDispatch) -> str:
        """The provider's id of the message; no transaction may be open.

        Raises `MessageRefused`, `ProviderUnavailable`.
        """
        provider_key = _provider_key(self.account, dispatch)
        message = self._from_an_allowed_address(message)
        try:
            return provider_of(self.settings).send(message, idempotency_key=provider_key)
        except (MessageRefused, ProviderUnavailable) as error:
            # What the provider says is kept with the dispatch and told to clients.
            error.args = (self.settings.without_credentials(str(error)),)
            raise

    def _from_an_allowed_address(self, message: Message) -> Message:
        """A message may have been stored while the account had a provider of its own, or another address."""
        if self.settings.may_send_as_anybody or message.from_email in {
            self.origin.email,
            django_settings.DEFAULT_FROM_EMAIL,
        }:
            return message
        origin = self.origin
        return replace(message, from_name=origin.name, from_email=origin.email, reply_to=origin.reply_to)


def _provider_key(account: Account, dispatch: OutboxDispatch) -> str:
    """Keys are unique within a space of an account, and the provider may be the same for many accounts."""
    space = "" if dispatch.key_space == KeySpace.PRODUCT else f"{dispatch.key_space}:"
    return f"{account.pk}:{space}{dispatch.idempotency_key}"


def current_sender() -> Sender:
    """The account in scope."""
    account, settings = current_account(), mail_settings()
    return Sender(account=account, settings=settings, origin=origin_of(account, settings, now=timezone.now()))
