from commerce.errors import Refusal


class TemplateNotFound(Refusal):
    status = 404
    code = "template_not_found"
    title = "There is no template of this key"


class NotificationDisabled(Refusal):
    status = 409
    code = "notification_disabled"
    title = "The customer has switched this message off"


class EmailKeyGivenUp(Refusal):
    """Carries `dispatch_id` and `dispatch_status`."""

    status = 409
    code = "email_key_given_up"
    title = "Another dispatch of this idempotency_key has ended without an email"


class TemplateInvalid(Refusal):
    """Carries `line` where there is one, from 1; that of an error in the MJML is counted after Liquid was rendered."""

    code = "template_invalid"
    title = "The template can't be rendered"


class TemplateVersionConflict(Refusal):
    """Carries `current_version`."""

    status = 409
    code = "version_conflict"
    title = "The template has changed since it was read"


class RendererFailed(Refusal):
    status = 502
    code = "renderer_failed"
    title = "The message can't be rendered"


class ProviderFailed(Refusal):
    """Carries `dispatch_id` where the provider may have the message: the outbox sees to it."""

    status = 502
    code = "provider_failed"
    title = "The email provider has not taken the message"


class EmailProviderResting(Refusal):
    status = 503
    code = "email_provider_resting"
    title = "The account's email provider did not answer recently; try again later"


class EmailUnderWay(Refusal):
    """Carries `dispatch_id`: the outbox sends the message under its idempotency_key."""

    status = 503
    code = "email_under_way"
    title = "The email provider is slow; the message will be sent in the background"


class EmailFromMissing(Refusal):
    status = 409
    code = "email_from_missing"
    title = "The account has no email_from whose domain could be verified"


class InvalidSignature(Refusal):
    status = 401
    code = "invalid_signature"
    title = "The signature is missing or wrong"


class AccountNotResolved(Refusal):
    status = 404
    code = "account_not_resolved"
    title = "The event is about no message that is known"
