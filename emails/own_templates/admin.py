from collections.abc import Mapping

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from commerce.backoffice.dialogs import dialog_action
from commerce.backoffice.display import StrOrPromise, text_column
from commerce.backoffice.history import name_actor
from commerce.backoffice.options import ReadOnlyAdmin
from commerce.backoffice.scopes import opens_own_scopes
from commerce.backoffice.summaries import LogSentence

from .editor import Editor
from .forms import OpenForm
from .models import EmailTemplateVersion
from .operations import Change, restore_version
from .queries import find_last_version, list_templates

_RESTORED = LogSentence("Version {number} is used again.")

_EDITOR = "admin:emails_emailtemplateversion_editor"


@admin.register(EmailTemplateVersion)
class EmailTemplateAdmin(ReadOnlyAdmin):
    """One page with all templates instead of a list of versions. Each template has an editor."""

    area = "emails"
    actions_detail = ("restore",)
    fields = (
        ("template_key", "locale", "number"),
        ("kind", "restored_number"),
        ("author", "created_at"),
        "note",
        "subject",
        "preheader",
        text_column("body_source", gettext_lazy("Body")),
        text_column("body_text", gettext_lazy("Text")),
    )

    def get_urls(self) -> list[URLPattern]:
        editor = path(
            "<str:template_key>/<locale:locale>/edit/",
            self.admin_site.admin_view(self.editor),
            name="emails_emailtemplateversion_editor",
        )
        return [editor, *super().get_urls()]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        form = OpenForm(request.GET if "locale" in request.GET else None)
        if form.is_valid():
            return redirect(_EDITOR, **form.cleaned_data)
        context = {
            **self.admin_site.each_context(request),
            "title": _("Email templates"),
            "opts": self.opts,
            "templates": list_templates(),
            "form": form,
        }
        return TemplateResponse(request, "backoffice/email_templates.html", context)

    @opens_own_scopes
    def editor(self, request: HttpRequest, template_key: str, locale: str) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        editor = Editor(request, template_key, locale, may_change=self.has_write_permission(request))
        if request.method == "POST" and (done := editor.act()):
            self.message_user(request, done, messages.SUCCESS)
            if not editor.stays_open:
                return redirect(request.path)
        context = {
            **self.admin_site.each_context(request),
            "title": _("%(template)s in %(language)s") % {"template": template_key, "language": locale},
            "opts": self.opts,
            "may_change": editor.may_change,
            **editor.build_context(),
        }
        return TemplateResponse(request, "backoffice/email_template.html", context)

    @dialog_action(
        gettext_lazy("Restore"),
        description=gettext_lazy("Saves the text of this version as a new version, which is then used."),
        submit=gettext_lazy("Restore"),
        icon="history",
    )
    def restore(
        self, request: HttpRequest, row: EmailTemplateVersion, fields: Mapping[str, object]
    ) -> StrOrPromise:
        # Staff have seen the history, and restoring loses nothing: a later version may be restored again.
        last = find_last_version(row.template_key, row.locale) or row
        change = Change(
            template_key=row.template_key,
            locale=row.locale,
            expected_version=last.number,
            author=name_actor(request),
        )
        restore_version(change=change, version_id=row.pk, now=timezone.now())
        return _RESTORED.fill(number=row.number)
