"""Emails to people who log in to the back office. The installation sends them: no shop's template, provider or address.

They are not deliveries of a shop, since they hold links that only their recipients may see.
"""

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, linebreaks, urlize
from django.utils.translation import gettext as _
from django.utils.translation import override

from accounts.models import StaffInvitation, StaffRole
from accounts.operations.invitations import SEND_INVITATION, hash_token, make_token
from accounts.queries import current_account
from accounts.roles import title_of
from commerce.outbox.errors import PermanentFailure
from commerce.outbox.handlers import Outcome, handles, open_scope
from commerce.outbox.models import OutboxDispatch
from emails.mail_settings import choose_mail_settings
from emails.messages import Message
from emails.origins import to_line
from emails.providers import MessageRefused, get_provider


def send_to_person(*, to_email: str, subject: str, text: str, idempotency_key: str) -> None:
    """Send by the installation's provider. No transaction may be open. Raises `MessageRefused`, `ProviderUnavailable`."""
    message = Message(
        from_name=_("Back office"),
        from_email=settings.DEFAULT_FROM_EMAIL,
        to_email=to_email,
        locale="en",
        subject=to_line(subject),
        html=format_html(
            "<!DOCTYPE html><html><body>{}</body></html>", linebreaks(urlize(text, autoescape=True))
        ),
        text=text,
    )
    get_provider(choose_mail_settings({})).send(message, idempotency_key=idempotency_key)


@handles(SEND_INVITATION, keeps_dead=False)
def send_invitation(dispatch: OutboxDispatch) -> Outcome:
    """Send an invitation, unless it has been accepted, declined, withdrawn or sent again since."""
    with open_scope(dispatch):
        invitation = StaffInvitation.objects.filter(
            pk=dispatch.payload["invitation_id"],
            sendings=dispatch.payload["sending"],
            expires_at__gt=timezone.now(),
        ).first()
        if invitation is None or invitation.expires_at is None:
            return Outcome(OutboxDispatch.Status.SKIPPED)
        shop = current_account().name
        own_role = StaffRole.objects.filter(pk=invitation.own_role_id or 0).first()
    token = make_token(invitation)
    if hash_token(token) != bytes(invitation.token_hash or b""):
        raise PermanentFailure("The secret key has changed since. Send the invitation again.")
    # An earlier release stored no language.
    with override(dispatch.payload.get("language", "en")):
        context = {
            "shop": to_line(shop),
            "role": title_of(invitation.role, own_name=own_role.name if own_role else None),
            "until": date_format(invitation.expires_at, "DATE_FORMAT"),
            "link": f"{settings.BASE_URL}/backoffice/invitation/{token}/",
        }
        subject = _("%(shop)s invites you to its staff") % context
        text = render_to_string("backoffice/emails/invitation.txt", context)
    try:
        send_to_person(
            to_email=invitation.email or "",
            subject=subject,
            text=text,
            idempotency_key=f"{dispatch.account_id}:{dispatch.idempotency_key}",
        )
    except MessageRefused as error:
        raise PermanentFailure(str(error)) from error
    return Outcome()
