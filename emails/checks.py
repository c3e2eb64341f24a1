"""System checks for deployments: what an installation takes from strangers and sends for them."""

from typing import Any

from django.conf import settings
from django.core import checks

from commerce.configuration.registry import installation_value


@checks.register(checks.Tags.security, deploy=True)
def check_email(app_configs: Any = None, **kwargs: Any) -> list[checks.CheckMessage]:
    found: list[checks.CheckMessage] = []
    has_provider = installation_value("commerce.email.provider") != "local"
    has_secret = bool(installation_value("commerce.email.provider_webhook_secret"))
    if settings.EMAIL_WEBHOOK_ALLOW_UNSIGNED and not has_secret:
        text = "Whoever knows a message's id can change its delivery: events of the email provider are taken unsigned."
        hint = "Set COMMERCE_EMAIL_PROVIDER_WEBHOOK_SECRET, and leave EMAIL_WEBHOOK_ALLOW_UNSIGNED out."
        found.append(checks.Error(text, hint=hint, id="emails.E001"))
    elif has_provider and not has_secret:
        text = "Events of the email provider are refused: nothing is learnt of what becomes of messages."
        hint = "Set COMMERCE_EMAIL_PROVIDER_WEBHOOK_SECRET."
        found.append(checks.Warning(text, hint=hint, id="emails.W001"))
    if settings.EMAIL_TRUST_SENDER_DOMAINS and has_provider:
        text = "Any account can send as any address through the installation's email provider."
        found.append(checks.Warning(text, hint="Leave EMAIL_TRUST_SENDER_DOMAINS out.", id="emails.W002"))
    return found
