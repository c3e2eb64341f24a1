"""A rendered message: what is stored with its dispatch, handed to the provider, and kept with the delivery."""

from dataclasses import asdict, dataclass
from math import inf
from typing import Any, Self

from django.conf import settings

from accounts.models import Account
from emails import renderer_client
from emails.paces import is_slow, note_pace
from emails.renderer_client import Rendered, RenderRequest, TemplateRefused
from emails.requests import EmailRequest
from emails.shortening import LIMIT_CODES, shortened
from emails.template_sources import TemplateSource, mjml_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Comes from the account's own address, or from the installation's (emails/origins.py).

    `locale` is the one asked for; the template may be that of a locale near to it.
    """

    from_name: str
    from_email: str
    to_email: str
    locale: str
    subject: str
    html: str
    text: str
    reply_to: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict[str, str]) -> Self:
        """What was stored before a field was there has its default."""
        return cls(**{name: stored[name] for name in cls.__slots__ if name in stored})


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Whom a message comes from."""

    name: str
    email: str
    reply_to: str


def render_message(
    *, account: Account, request: EmailRequest, source: TemplateSource, locale: str, origin: Origin
) -> Message:
    """Call the renderer; no transaction may be open. Raises `TemplateRefused`, `RendererUnavailable`."""
    rendered = _render_whole_or_shortened(account, source, request.ctx)
    return Message(
        from_name=origin.name,
        from_email=origin.email,
        to_email=request.to_email,
        locale=locale,
        subject=rendered.subject,
        html=rendered.html,
        text=rendered.text,
        reply_to=origin.reply_to,
    )


def _render_whole_or_shortened(account: Account, source: TemplateSource, ctx: dict[str, Any]) -> Rendered:
    """An order that is too long for one message is shown with its first lines."""
    try:
        return render_source(account=account, source=source, ctx=ctx)
    except TemplateRefused as refused:
        if refused.code not in LIMIT_CODES:
            raise
        failure = refused
    for shorter in shortened(ctx):
        try:
            return render_source(account=account, source=source, ctx=shorter)
        except TemplateRefused as refused:
            failure = refused
    raise failure


def render_source(
    *, account: Account, source: TemplateSource, ctx: dict[str, Any], is_draft: bool = False
) -> Rendered:
    """Call the renderer; no transaction may be open. Every template may use `account`, besides the `ctx`.

    A draft counts as slow, and says nothing of the account's messages. Raises `TemplateRefused`, `RendererUnavailable`.
    """
    message = RenderRequest(
        body_source=mjml_of(source, default_locale=account.default_locale),
        subject_template=source.subject,
        preheader_template=source.preheader,
        body_text_template=source.text,
        ctx={"account": _account_variables(account)} | ctx,
        locale=source.locale,
    )
    if is_draft:
        return renderer_client.render(url=settings.RENDERER_URL, message=message, is_slow=True)
    try:
        rendered = renderer_client.render(
            url=settings.RENDERER_URL, message=message, is_slow=is_slow(account.pk)
        )
    except TemplateRefused as refused:
        if refused.code in LIMIT_CODES:
            note_pace(account.pk, inf)
        raise
    note_pace(account.pk, rendered.processor_s)
    return rendered


def _account_variables(account: Account) -> dict[str, str]:
    return {"name": account.name, "timezone": account.default_timezone}
