"""Messages to people who log in to the back office, which belong to no shop and so don't go through the outbox."""

from celery import shared_task
from django.conf import settings
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import override

from accounts.operations.passwords import SEND_PASSWORD_RESET, find_people, make_reset_link
from emails.providers import ProviderUnavailable
from emails.staff import send_to_person


@shared_task(name=SEND_PASSWORD_RESET, autoretry_for=(ProviderUnavailable,), retry_backoff=10, max_retries=5)
def send_password_reset(*, email: str, request_id: str, language: str = "en", **kwargs: object) -> None:
    """Send a link to each person who logs in with this address: nobody, in most cases of a wrong one.

    It is in the person's language, or else in that of the page on which it was asked for.
    """
    for user in find_people(email):
        context = {
            "username": user.get_username(),
            "minutes": settings.PASSWORD_RESET_TIMEOUT // 60,
            "link": make_reset_link(user),
        }
        with override(user.language or language):
            subject = _("Choose a new password for the back office")
            text = render_to_string("backoffice/emails/password_reset.txt", context)
        send_to_person(
            # As it is stored: what was typed may differ in letters that only look alike.
            to_email=user.email,
            subject=subject,
            text=text,
            # A retry sends nothing to those who already have it.
            idempotency_key=f"password_reset/{request_id}/{user.pk}",
        )
