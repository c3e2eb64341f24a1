from typing import Self

from commerce.errors import Refusal


class TemplateNotFound(Refusal):
    status = 404
    code = "template_not_found"
    title = "There is no template with this key"


class NotificationDisabled(Refusal):
    status = 409
    code = "notification_disabled"
    title = "The customer has switched this email off"


class EmailKeyGivenUp(Refusal):
    """Carries `dispatch_id` and `dispatch_status`."""

    status = 409
    code = "email_key_given_up"
    title = "An earlier dispatch with this idempotency_key ended without an email"


class TemplateInvalid(Refusal):
    """Carries `line` if known, from 1. For an error in the MJML, lines are counted after Liquid was rendered."""

    code = "template_invalid"
    title = "The template can't be rendered"


class TemplatesResting(Refusal):
    status = 503
    code = "templates_resting"
    title = "A template of the account ended a process of the renderer; its own templates can be tried again later"

    @classmethod
    def build(cls, wait_s: int) -> Self:
        """A refusal that tells the client to wait for so many seconds."""
        refusal = cls()
        refusal.headers["Retry-After"] = str(wait_s)
        return refusal


class TemplateVersionConflict(Refusal):
    """Carries `current_version`."""

    status = 409
    code = "version_conflict"
    title = "The template has changed since it was read"


class RendererFailed(Refusal):
    status = 502
    code = "renderer_failed"
    title = "The email can't be rendered"


class ProviderFailed(Refusal):
    """Carries `dispatch_id` if the provider may have the message: the outbox takes over."""

    status = 502
    code = "provider_failed"
    title = "The email provider did not accept the email"


class EmailProviderResting(Refusal):
    status = 503
    code = "email_provider_resting"
    title = "The account's email provider has not been answering; try again later"


class EmailUnderWay(Refusal):
    """Carries `dispatch_id`: the outbox sends the message under its idempotency_key."""

    status = 503
    code = "email_under_way"
    title = "The email provider is slow; the email will be sent in the background"
    # By then a worker has the answer of a slow provider.
    own_headers = {"Retry-After": "30"}


class EmailFromMissing(Refusal):
    status = 409
    code = "email_from_missing"
    title = "The account has no email_from, so there is no domain to verify"


class InvalidSignature(Refusal):
    status = 401
    code = "invalid_signature"
    title = "The signature is missing or wrong"


class AccountNotResolved(Refusal):
    status = 404
    code = "account_not_resolved"
    title = "The event is not about a known message"
