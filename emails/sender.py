"""An account as a sender: what is read while its scope is open, and the calls made after it is closed."""

from collections.abc import Collection
from contextlib import nullcontext
from dataclasses import dataclass, replace

from django.conf import settings as django_settings
from django.utils import timezone

from accounts.models import Account
from accounts.queries import current_account
from commerce.customers.models import Customer
from commerce.outbox.error_texts import remove_secrets
from commerce.outbox.models import KeySpace, OutboxDispatch
from emails.mail_settings import MailSettings, read_mail_settings
from emails.messages import Message, Origin
from emails.origins import choose_origin
from emails.own_calls import has_place, own_call
from emails.own_templates.queries import find_current_template
from emails.providers import MessageRefused, ProviderUnavailable, get_provider
from emails.renderer_client import TemplateRefused
from emails.rendering import render_in_turn
from emails.requests import EmailRequest
from emails.shortening import LIMIT_CODES, shorten
from emails.template_sources import TemplateSource, prepare_rendering


@dataclass(frozen=True, slots=True)
class ChosenTemplate:
    """The template of a message, and the requested locale, which the template's own is near to."""

    source: TemplateSource
    locale: str


@dataclass(frozen=True, slots=True)
class Sender:
    account: Account
    settings: MailSettings
    origin: Origin

    def choose_locale(self, request: EmailRequest, *, customer: Customer | None) -> str:
        return request.locale or (customer and customer.locale) or self.account.default_locale

    def choose_template(
        self,
        request: EmailRequest,
        *,
        customer: Customer | None,
        own_locales: Collection[str] | None = None,
    ) -> ChosenTemplate:
        """Raises `TemplateNotFound`. `own_locales` spare a statement, see `find_current_template`."""
        locale = self.choose_locale(request, customer=customer)
        source = find_current_template(
            request.template_key,
            locale=locale,
            default_locale=self.account.default_locale,
            own_locales=own_locales,
        )
        return ChosenTemplate(source=source, locale=locale)

    def render(self, request: EmailRequest, template: ChosenTemplate) -> Message:
        """Render a message; an order that is too long is shown with its first lines. No transaction may be open.

        Raises `TemplateRefused`, `RendererUnavailable`.
        """
        for ctx in shorten(request.ctx):
            message = prepare_rendering(template.source, ctx, account=self.account)
            try:
                rendered = render_in_turn(message, account_id=self.account.pk, source=template.source)
            except TemplateRefused as refused:
                # A mistake in the template stays one with fewer lines.
                if refused.code not in LIMIT_CODES:
                    raise
                failure = refused
            else:
                break
        else:
            raise failure
        return Message(
            from_name=self.origin.name,
            from_email=self.origin.email,
            reply_to=self.origin.reply_to,
            to_email=request.to_email,
            locale=template.locale,
            subject=rendered.subject,
            html=rendered.html,
            text=rendered.text,
        )

    def has_place(self, *, among: int) -> bool:
        """Whether one more message may be handed off, in a process that hands off `among` at once."""
        return not self.settings.is_own or has_place(self.account.pk, among=among)

    def hand_off(self, message: Message, *, dispatch: OutboxDispatch, among: int) -> str:
        """Hand a message to the provider and return the provider's id for it. No transaction may be open.

        Raises `MessageRefused`, `ProviderUnavailable`, `NoPlace`.
        """
        # A key is unique within its space and account, and a provider may serve many accounts.
        space = "" if dispatch.key_space == KeySpace.PRODUCT else f"{dispatch.key_space}:"
        provider_key = f"{self.account.pk}:{space}{dispatch.idempotency_key}"
        # A message may have been stored while the account had another provider or address, which it may no longer use.
        allowed = {self.origin.email, django_settings.DEFAULT_FROM_EMAIL}
        if not self.settings.may_send_as_anybody and message.from_email not in allowed:
            origin = self.origin
            message = replace(
                message, from_name=origin.name, from_email=origin.email, reply_to=origin.reply_to
            )
        try:
            with own_call(self.account.pk, among=among) if self.settings.is_own else nullcontext():
                return get_provider(self.settings).send(message, idempotency_key=provider_key)
        except (MessageRefused, ProviderUnavailable) as error:
            # The provider's words are kept with the dispatch, also after the customer was redacted, and shown to clients.
            words = self.settings.remove_credentials(str(error))
            error.args = (remove_secrets(words, [message.to_email, message.to_email.lower()]),)
            raise


def load_sender() -> Sender:
    """The account in scope as a sender."""
    account, settings = current_account(), read_mail_settings()
    return Sender(
        account=account, settings=settings, origin=choose_origin(account, settings, now=timezone.now())
    )
