"""The page where staff edit, preview, test and reset a template."""

from collections.abc import Callable

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.queries import current_account
from commerce.backoffice.history import name_actor, record_one
from commerce.backoffice.models import StaffAction
from commerce.backoffice.scopes import get_scope_opener
from commerce.backoffice.summaries import LogSentence
from commerce.errors import Refusal, ValidationFailed
from emails.frames import build_message_frame
from emails.renderer_client import Rendered

from .forms import TemplateForm
from .models import EmailTemplateVersion
from .operations import Change, reset_template, save_template, send_test
from .queries import CurrentTemplate, get_template, versions
from .rendering import render_draft

_SAVED = LogSentence("{template} {locale} saved")
_RESET = LogSentence("{template} {locale} reset")
_TESTED = LogSentence("{template} {locale} sent as a test")

_SHOWN_VERSIONS = 20


class Editor:
    """One request for the page. No scope is open, as it calls the renderer. Raises `TemplateNotFound`."""

    def __init__(self, request: HttpRequest, template_key: str, locale: str, *, may_change: bool) -> None:
        self.request = request
        self.may_change = may_change
        self.scope = get_scope_opener(request)
        with self.scope():
            self.template = get_template(template_key, locale)
            self.versions = list(versions(template_key, locale).order_by("-number")[:_SHOWN_VERSIONS])
        self.form = TemplateForm(self.template, request.POST if request.method == "POST" else None)

    def act(self) -> str | None:
        """Run the action of the pressed button. Returns the message for staff, or None if the form has errors."""
        actions: dict[str, Callable[[], str]] = {
            "save": self._save,
            "send_test": self._send_test,
            "reset": self._reset,
        }
        act = actions.get(self.request.POST.get("do", ""))
        # The button for the preview only shows the page again.
        if act is None:
            return None
        if not self.may_change:
            raise PermissionDenied
        if not self.form.is_valid():
            return None
        try:
            return act()
        except Refusal as refusal:
            self.form.show(refusal)
            return None

    @property
    def stays_open(self) -> bool:
        """Whether the page is shown again instead of a redirect, which would lose the unsaved input."""
        return self.request.POST.get("do") == "send_test"

    def build_context(self) -> dict[str, object]:
        rendered = self._render()
        return {
            "template": self.template,
            "versions": self.versions,
            "form": self.form,
            "rendered": rendered,
            "frame": build_message_frame(rendered.html) if rendered else None,
        }

    def _render(self) -> Rendered | None:
        """Render the form's template, unless it has errors."""
        if not self.form.is_valid():
            return None
        try:
            with self.scope():
                account = current_account()
            return render_draft(
                account=account, source=self.form.build_draft(), ctx=self.form.cleaned_data["ctx"]
            )
        except Refusal as refusal:
            self.form.show(refusal)
            return None

    def _save(self) -> str:
        fields = self.form.cleaned_data
        saved = save_template(
            scope=self.scope,
            change=Change(
                template_key=self.template.template_key,
                locale=self.template.locale,
                expected_version=fields["expected_version"],
                author=name_actor(self.request),
                note=fields["note"] or None,
            ),
            draft=self.form.build_draft(),
            now=timezone.now(),
        )
        # Apart from the change itself, which was made in a scope of its own after rendering.
        with self.scope():
            self._record(saved, _SAVED)
        return _("Version %(number)s is now used.") % {"number": saved.version}

    def _reset(self) -> str:
        with self.scope():
            reset = reset_template(
                template_key=self.template.template_key,
                locale=self.template.locale,
                expected_version=self.form.cleaned_data["expected_version"],
                author=name_actor(self.request),
                now=timezone.now(),
            )
            self._record(reset, _RESET)
        return _("The platform's template is used again.")

    def _send_test(self) -> str:
        to_email = self.form.cleaned_data["to_email"]
        if not to_email:
            raise ValidationFailed.of("to_email", "required", _("Enter an address."))
        with self.scope():
            send_test(
                template_key=self.template.template_key,
                locale=self.template.locale,
                to_email=to_email,
                ctx=self.form.cleaned_data["ctx"],
                now=timezone.now(),
            )
            self._record(self.template, _TESTED)
        return _("A test of the current template will be sent to %(address)s.") % {"address": to_email}

    def _record(self, template: CurrentTemplate, done: LogSentence) -> None:
        record_one(
            self.request,
            subject=EmailTemplateVersion._meta.label_lower,
            # A platform's template has no row.
            subject_id=template.last.pk if template.last else 0,
            kind=StaffAction.Kind.CHANGED,
            summary=done.write(template=template.template_key, locale=template.locale),
        )
