from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from commerce.outbox.api.serializers import DispatchOutput
from commerce.paging import newest_first
from commerce.rest.schema import PAGE_PARAMETERS, OpenApiParameter, answers, envelope, many, one
from commerce.rest.views import AdminViewSet
from emails.own_templates import operations, queries
from emails.own_templates.models import EmailTemplateVersion
from emails.own_templates.operations import Change
from emails.template_sources import TemplateSource

from . import template_serializers as shapes

# What a template's parts are called inside, by what requests call them.
_PARTS = {"subject": "subject", "preheader": "preheader", "body_source": "body", "body_text": "text"}

_PREVIEW = envelope(
    "EmailTemplatePreview",
    html=serializers.CharField(),
    text=serializers.CharField(),
    subject=serializers.CharField(),
    preheader=serializers.CharField(allow_null=True),
    warnings=shapes.EmailTemplateWarningOutput(many=True),
)


class _TemplateViewSet(AdminViewSet):
    area = "emails"

    @property
    def author(self) -> str:
        return f"key:{self.principal.key_id}"

    def change(self, template_key: str, locale: str, given: dict[str, Any]) -> Change:
        return Change(
            template_key=template_key,
            locale=locale,
            expected_version=given["expected_version"],
            author=self.author,
            note=given.get("note") or None,
        )


class EmailTemplatesViewSet(_TemplateViewSet):
    """The messages' templates: the account's own where it has written one, else the platform's."""

    reading_actions = ("preview",)
    unscoped_actions = ("update", "preview")

    @answers(many("email_templates", shapes.EmailTemplateStateOutput))
    def list(self, request: Request) -> Response:
        found = shapes.EmailTemplateStateOutput(queries.templates(), many=True).data
        return Response({"email_templates": found, "next_cursor_id": None})

    @answers(one("email_template", shapes.EmailTemplateOutput))
    def retrieve(self, request: Request, template_key: str, locale: str) -> Response:
        """What customers of a locale get: `source_locale` says where there is none of just this one."""
        return _answer(queries.get_template(template_key, locale))

    @answers(one("email_template", shapes.EmailTemplateOutput), request=shapes.EmailTemplateInput)
    def update(self, request: Request, template_key: str, locale: str) -> Response:
        """Puts the account's own template in force, once it renders with the sample variables."""
        given = self.valid(shapes.EmailTemplateInput)
        template = operations.save_template(
            scope=self.scope,
            change=self.change(template_key, locale, given),
            draft=_draft(template_key, locale, given),
            now=timezone.now(),
        )
        return _answer(template)

    @answers(
        one("email_template", shapes.EmailTemplateOutput),
        parameters=[OpenApiParameter("expected_version", int)],
    )
    def destroy(self, request: Request, template_key: str, locale: str) -> Response:
        """Goes back to the platform's template; the history stays."""
        template = operations.reset_template(
            template_key=template_key,
            locale=locale,
            expected_version=self.valid_query(shapes.EmailTemplateResetQuery).get("expected_version"),
            author=self.author,
            now=timezone.now(),
        )
        return _answer(template)

    @answers(_PREVIEW, request=shapes.EmailTemplatePreviewInput, partial=True)
    def preview(self, request: Request, template_key: str, locale: str) -> Response:
        """Renders the template in force with any of its parts changed; nothing is kept."""
        given = self.valid(shapes.EmailTemplatePreviewInput, partial=True)
        rendered = operations.preview_template(
            scope=self.scope,
            template_key=template_key,
            locale=locale,
            changes=_parts(given),
            ctx=given.get("ctx"),
        )
        return Response(_PREVIEW.to_representation(rendered))

    @answers(one("outbox_dispatch", DispatchOutput), request=shapes.EmailTemplateTestInput, status=201)
    def test_send(self, request: Request, template_key: str, locale: str) -> Response:
        """Has the template in force sent to any address, with the sample variables unless others are given."""
        dispatch = operations.send_test(
            template_key=template_key,
            locale=locale,
            **{"ctx": None} | self.valid(shapes.EmailTemplateTestInput),
            now=timezone.now(),
        )
        return Response({"outbox_dispatch": DispatchOutput(dispatch).data}, status=201)


class EmailTemplateVersionsViewSet(_TemplateViewSet):
    """What the account has changed of a template in a locale."""

    @answers(many("email_template_versions", shapes.EmailTemplateVersionOutput), parameters=PAGE_PARAMETERS)
    def list(self, request: Request, template_key: str, locale: str) -> Response:
        page = newest_first(queries.versions(template_key, locale), self.cursor)
        return Response(page.answer("email_template_versions", _version))

    @answers(one("email_template_version", shapes.EmailTemplateVersionTextOutput))
    def retrieve(self, request: Request, template_key: str, locale: str, version_id: int) -> Response:
        version = queries.get_version(template_key, locale, version_id)
        return Response({"email_template_version": shapes.EmailTemplateVersionTextOutput(version).data})

    @answers(one("email_template", shapes.EmailTemplateOutput), request=shapes.EmailTemplateRestoreInput)
    def restore(self, request: Request, template_key: str, locale: str, version_id: int) -> Response:
        """Puts the text of an earlier version in force again, as a new version."""
        template = operations.restore_version(
            change=self.change(template_key, locale, self.valid(shapes.EmailTemplateRestoreInput)),
            version_id=version_id,
            now=timezone.now(),
        )
        return _answer(template)


def _answer(template: queries.TemplateInForce) -> Response:
    return Response({"email_template": shapes.EmailTemplateOutput(template).data})


def _version(version: EmailTemplateVersion) -> dict[str, Any]:
    return shapes.EmailTemplateVersionOutput(version).data


def _draft(template_key: str, locale: str, given: dict[str, Any]) -> TemplateSource:
    return TemplateSource(
        template_key=template_key,
        locale=locale,
        subject=given["subject"],
        body=given["body_source"],
        preheader=given.get("preheader") or None,
        text=given.get("body_text") or None,
    )


def _parts(given: dict[str, Any]) -> dict[str, str | None]:
    """The parts that were given; an empty one is none."""
    return {_PARTS[name]: given[name] or None for name in _PARTS.keys() & given.keys()}
