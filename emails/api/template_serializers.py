from rest_framework import serializers

from commerce.rest import fields
from commerce.rest.shapes import Input, Output, TimestampField
from emails.own_templates.models import EmailTemplateVersion
from emails.own_templates.rules import (
    MAX_BODY_SOURCE,
    MAX_BODY_TEXT,
    MAX_CTX_BYTES,
    MAX_CTX_NODES,
    MAX_LINE,
    MAX_NOTE,
    MAX_VERSION,
)


class ContextField(fields.ObjectField):
    """A template's variables, except `account`."""

    def __init__(self) -> None:
        super().__init__(
            max_bytes=MAX_CTX_BYTES,
            max_nodes=MAX_CTX_NODES,
            required=False,
            help_text="The variables. Default: the sample.",
        )


class EmailTemplatePartsInput(Input):
    subject = fields.TextField(max_length=MAX_LINE, help_text="Liquid.")
    preheader = fields.OptionalTextField(
        max_length=MAX_LINE, help_text="Liquid. Shown beside the subject in mail programs."
    )
    body_source = fields.TextField(
        max_length=MAX_BODY_SOURCE, trim_whitespace=False, help_text="Liquid that becomes MJML."
    )
    body_text = fields.OptionalTextField(
        max_length=MAX_BODY_TEXT,
        trim_whitespace=False,
        help_text="Liquid. Without it, the text is made from the body.",
    )


class EmailTemplateInput(EmailTemplatePartsInput):
    """A whole template. `expected_version` is the version that the caller has read, 0 if there is none yet."""

    expected_version = fields.IntegerField(
        max_value=MAX_VERSION, help_text="The version that was read; 0 if the shop has none yet."
    )
    note = fields.OptionalTextField(max_length=MAX_NOTE, help_text="Why it was changed, for the history.")


class EmailTemplateResetQuery(Input):
    expected_version = fields.QueryIntegerField(
        required=False,
        max_value=MAX_VERSION,
        help_text="The version that was read. Without it, nothing is compared.",
    )


class EmailTemplateRestoreInput(Input):
    expected_version = fields.IntegerField(
        max_value=MAX_VERSION, help_text="The current version that was read."
    )
    note = fields.OptionalTextField(max_length=MAX_NOTE, help_text="Why it was restored, for the history.")


class EmailTemplatePreviewInput(EmailTemplatePartsInput):
    """Any parts of a template. The others are taken from the current template."""

    ctx = ContextField()


class EmailTemplateTestInput(Input):
    to_email = fields.EmailField(help_text="Where to send it.")
    ctx = ContextField()


class EmailTemplateWarningOutput(Output):
    """A fault in the MJML that didn't prevent compiling."""

    line = serializers.IntegerField(
        allow_null=True, help_text="Counts from 1, after Liquid has been rendered."
    )
    tag = serializers.CharField(help_text="The MJML tag.")
    message = serializers.CharField(help_text="What is wrong with it.")


class EmailTemplateStateOutput(Output):
    template_key = serializers.CharField(help_text="The email, such as `order.confirmation`.")
    locale = serializers.CharField(help_text="The language, with or without a region.")
    source = serializers.ChoiceField(  # type: ignore[assignment]  # DRF takes fields out of the class
        ["account", "platform"],
        help_text="Whose template is current: the shop's own (`account`) or the platform's (`platform`).",
    )
    version = serializers.IntegerField(help_text="The account's last change, resets included; 0 for none.")
    note = serializers.CharField(
        source="last.note", default=None, allow_null=True, help_text="Why it was last changed."
    )
    author = serializers.CharField(
        source="last.author",
        default=None,
        allow_null=True,
        help_text="Of the last change: `staff:NAME` or `key:ID`.",
    )
    updated_at = TimestampField(
        source="last.created_at",
        default=None,
        allow_null=True,
        help_text="When the shop last changed it; null if it never did.",
    )


class EmailTemplateOutput(EmailTemplateStateOutput):
    source_locale = serializers.CharField(
        source="text.locale", help_text="The locale of the template: the nearest available."
    )
    subject = serializers.CharField(source="text.subject", help_text="Liquid.")
    preheader = serializers.CharField(
        source="text.preheader",
        allow_null=True,
        help_text="Liquid. Shown beside the subject in mail programs.",
    )
    body_source = serializers.CharField(source="text.body", help_text="Liquid that becomes MJML.")
    body_text = serializers.CharField(
        source="text.text", allow_null=True, help_text="Liquid. Without it, the text is made from the body."
    )
    warnings = EmailTemplateWarningOutput(
        many=True,
        source="last.warnings",
        default=list,
        help_text="Faults in the MJML that didn't prevent compiling.",
    )


class EmailTemplateVersionOutput(Output):
    id = fields.IdField()
    template_key = serializers.CharField(help_text="The email, such as `order.confirmation`.")
    locale = serializers.CharField(help_text="The language, with or without a region.")
    version = serializers.IntegerField(source="number", help_text="Counts from 1, by email and language.")
    kind = serializers.ChoiceField(
        EmailTemplateVersion.Kind.choices,
        help_text="`saved`, `restored` from an earlier version, or `reset` to the platform's template.",
    )
    restored_version = serializers.IntegerField(
        source="restored_number",
        allow_null=True,
        help_text="The version that was restored; null if it wasn't a restoration.",
    )
    note = serializers.CharField(allow_null=True, help_text="Why it was changed.")
    author = serializers.CharField(help_text="Who changed it: `staff:NAME` or `key:ID`.")
    warnings = EmailTemplateWarningOutput(
        many=True, source="first_warnings", help_text="The first ten; the version itself has up to a hundred."
    )
    created_at = TimestampField()


class EmailTemplateVersionTextOutput(EmailTemplateVersionOutput):
    warnings = EmailTemplateWarningOutput(
        many=True, help_text="Faults in the MJML that didn't prevent compiling, at most a hundred."
    )
    subject = serializers.CharField(help_text="Empty for a reset.")
    preheader = serializers.CharField(allow_null=True, help_text="Null for a reset, or without one.")
    body_source = serializers.CharField(help_text="Empty for a reset.")
    body_text = serializers.CharField(allow_null=True, help_text="Null for a reset, or without one.")
