from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.errors import TooManyOutsideCalls
from commerce.outbox.api.serializers import DispatchOutput
from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, answers, envelope, many, one
from commerce.rest.views import AdminViewSet
from emails import errors
from emails.own_templates import operations, queries
from emails.own_templates.operations import Change
from emails.template_sources import TemplateSource

from . import template_serializers as shapes

# The API's names for the parts of a template, and ours.
_PARTS = {"subject": "subject", "preheader": "preheader", "body_source": "body", "body_text": "text"}

_PREVIEW = envelope(
    "EmailTemplatePreview",
    html=serializers.CharField(help_text="The email as HTML."),
    text=serializers.CharField(help_text="The email as plain text."),
    subject=serializers.CharField(help_text="Its subject."),
    preheader=serializers.CharField(allow_null=True, help_text="What mail programs show beside the subject."),
    warnings=shapes.EmailTemplateWarningOutput(
        many=True, help_text="Faults in the MJML that didn't prevent compiling."
    ),
)


class _TemplateViewSet(AdminViewSet):
    area = "emails"

    @property
    def author(self) -> str:
        return f"key:{self.principal.key_id}"

    def build_change(self, template_key: str, locale: str, given: dict[str, Any]) -> Change:
        return Change(
            template_key=template_key,
            locale=locale,
            expected_version=given["expected_version"],
            author=self.author,
            note=given.get("note") or None,
        )


class EmailTemplatesViewSet(_TemplateViewSet):
    """Templates of emails in Liquid and MJML, by email and language: the shop's own, or else the platform's. Every
    change is kept as a version.
    """

    # A preview is a POST only because a draft doesn't fit into a query.
    reading_actions = ("preview",)
    # Both call the renderer, and no transaction may be open meanwhile.
    unscoped_actions = ("update", "preview")

    @answers(many("email_templates", shapes.EmailTemplateStateOutput))
    def list(self, request: Request) -> Response:
        """List the templates.

        Every email in every language that it has, all on one page.
        """
        found = shapes.EmailTemplateStateOutput(queries.list_templates(), many=True).data
        return Response({"email_templates": found, "next_cursor_id": None})

    @answers(one("email_template", shapes.EmailTemplateOutput), refuses=(errors.TemplateNotFound,))
    def retrieve(self, request: Request, template_key: str, locale: str) -> Response:
        """Show a template.

        The one that customers of this language get. `source_locale` differs if the language has none of its own.
        """
        return _answer(queries.get_template(template_key, locale))

    @answers(
        one("email_template", shapes.EmailTemplateOutput),
        request=shapes.EmailTemplateInput,
        refuses=(
            errors.TemplateNotFound,
            errors.TemplateVersionConflict,
            errors.TemplateInvalid,
            errors.RendererFailed,
            errors.TemplatesResting,
            TooManyOutsideCalls,
        ),
    )
    def update(self, request: Request, template_key: str, locale: str) -> Response:
        """Save the shop's own template.

        It is rendered with the sample variables first, and refused if that fails. `expected_version` is the version
        that was read: if somebody has saved another since, the request is refused.
        """
        given = self.valid(shapes.EmailTemplateInput)
        template = operations.save_template(
            scope=self.scope,
            change=self.build_change(template_key, locale, given),
            draft=TemplateSource(
                template_key=template_key,
                locale=locale,
                subject=given["subject"],
                body=given["body_source"],
                preheader=given.get("preheader") or None,
                text=given.get("body_text") or None,
            ),
            now=timezone.now(),
        )
        return _answer(template)

    @answers(
        one("email_template", shapes.EmailTemplateOutput),
        parameters=[shapes.EmailTemplateResetQuery],
        refuses=(errors.TemplateNotFound, errors.TemplateVersionConflict),
    )
    def destroy(self, request: Request, template_key: str, locale: str) -> Response:
        """Go back to the platform's template.

        The shop's versions are kept, and can be restored.
        """
        template = operations.reset_template(
            template_key=template_key,
            locale=locale,
            expected_version=self.valid_query(shapes.EmailTemplateResetQuery).get("expected_version"),
            author=self.author,
            now=timezone.now(),
        )
        return _answer(template)

    @answers(
        _PREVIEW,
        request=shapes.EmailTemplatePreviewInput,
        partial=True,
        refuses=(
            errors.TemplateNotFound,
            errors.TemplateInvalid,
            errors.RendererFailed,
            errors.TemplatesResting,
            TooManyOutsideCalls,
        ),
    )
    def preview(self, request: Request, template_key: str, locale: str) -> Response:
        """Render a template without saving it.

        The current template, with any of its parts replaced by those that are sent.
        """
        given = self.valid(shapes.EmailTemplatePreviewInput, partial=True)
        rendered = operations.preview_template(
            scope=self.scope,
            template_key=template_key,
            locale=locale,
            changes=_pick_parts(given),
            ctx=given.get("ctx"),
        )
        return Response(_PREVIEW.to_representation(rendered))

    @answers(
        one("outbox_dispatch", DispatchOutput),
        request=shapes.EmailTemplateTestInput,
        status=201,
        refuses=(errors.TemplateNotFound,),
    )
    def test_send(self, request: Request, template_key: str, locale: str) -> Response:
        """Send a template to any address.

        With the sample variables unless others are given. The email is queued: the answer is its dispatch.
        """
        dispatch = operations.send_test(
            template_key=template_key,
            locale=locale,
            **{"ctx": None} | self.valid(shapes.EmailTemplateTestInput),
            now=timezone.now(),
        )
        return Response({"outbox_dispatch": DispatchOutput.of(dispatch)}, status=201)


class EmailTemplateVersionsViewSet(_TemplateViewSet):
    """The account's changes of a template in a locale."""

    @answers(
        many("email_template_versions", shapes.EmailTemplateVersionOutput),
        parameters=PAGE_PARAMETERS,
        refuses=(errors.TemplateNotFound,),
    )
    def list(self, request: Request, template_key: str, locale: str) -> Response:
        """List the versions of a template.

        Newest first, resets included.
        """
        page = newest_first(queries.versions(template_key, locale), self.cursor)
        return Response(page.answer("email_template_versions", shapes.EmailTemplateVersionOutput.of))

    @answers(
        one("email_template_version", shapes.EmailTemplateVersionTextOutput),
        refuses=(errors.TemplateNotFound,),
    )
    def retrieve(self, request: Request, template_key: str, locale: str, version_id: int) -> Response:
        """Show a version of a template.

        With its text and all warnings.
        """
        version = queries.get_version(template_key, locale, version_id)
        return Response({"email_template_version": shapes.EmailTemplateVersionTextOutput.of(version)})

    @answers(
        one("email_template", shapes.EmailTemplateOutput),
        request=shapes.EmailTemplateRestoreInput,
        refuses=(errors.TemplateNotFound, errors.TemplateVersionConflict),
    )
    def restore(self, request: Request, template_key: str, locale: str, version_id: int) -> Response:
        """Restore a version of a template.

        Its text is saved as a new version.
        """
        template = operations.restore_version(
            change=self.build_change(template_key, locale, self.valid(shapes.EmailTemplateRestoreInput)),
            version_id=version_id,
            now=timezone.now(),
        )
        return _answer(template)


def _answer(template: queries.CurrentTemplate) -> Response:
    return Response({"email_template": shapes.EmailTemplateOutput.of(template)})


def _pick_parts(given: dict[str, Any]) -> dict[str, str | None]:
    """The given parts; an empty part means none."""
    return {_PARTS[name]: given[name] or None for name in _PARTS.keys() & given.keys()}
