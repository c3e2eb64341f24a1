"""System checks: complete template folders, and settings that a deployment should not have."""

from django.conf import settings
from django.core import checks

from commerce.configuration.registry import installation_value

from .own_templates.samples import load_sample_ctx
from .template_sources import load_platform_templates


@checks.register(checks.Tags.templates)
def check_templates(**_options: object) -> list[checks.CheckMessage]:
    # Otherwise a missing file or text would go unnoticed until an email needs it.
    try:
        for key in load_platform_templates():
            load_sample_ctx(key)
    except (OSError, KeyError, ValueError) as error:
        text = f"An email's folder is incomplete: {type(error).__name__}: {error}"
        return [checks.Error(text, hint="See docs/extending.md, Add an email.", id="emails.E002")]
    return []


@checks.register(checks.Tags.security, deploy=True)
def check_email(**_options: object) -> list[checks.CheckMessage]:
    found: list[checks.CheckMessage] = []
    # The local provider writes files: it reports no events, and can't send as anybody.
    has_provider = installation_value("commerce.email.provider") != "local"
    has_secret = bool(installation_value("commerce.email.provider_webhook_secret"))
    if settings.EMAIL_WEBHOOK_ALLOW_UNSIGNED and not has_secret:
        text = "Unsigned events of the email provider are accepted: anyone who knows a message's id can change its delivery."
        hint = "Set COMMERCE_EMAIL_PROVIDER_WEBHOOK_SECRET and remove EMAIL_WEBHOOK_ALLOW_UNSIGNED."
        found.append(checks.Error(text, hint=hint, id="emails.E001"))
    elif has_provider and not has_secret:
        text = "Events of the email provider are refused, so deliveries never get past the status sent."
        hint = "Set COMMERCE_EMAIL_PROVIDER_WEBHOOK_SECRET."
        found.append(checks.Warning(text, hint=hint, id="emails.W001"))
    if settings.EMAIL_TRUST_SENDER_DOMAINS and has_provider:
        text = "Any account can send as any address through the installation's email provider."
        found.append(checks.Warning(text, hint="Remove EMAIL_TRUST_SENDER_DOMAINS.", id="emails.W002"))
    return found
