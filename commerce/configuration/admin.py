from collections.abc import Mapping

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from commerce.backoffice.audit import describe_settings
from commerce.backoffice.history import record_one
from commerce.backoffice.models import StaffAction
from commerce.backoffice.options import ReadOnlyAdmin
from commerce.backoffice.shown import Values, read_shown_values, sign_shown_values
from commerce.backoffice.wordings import translate
from commerce.errors import ValidationFailed
from commerce.tenancy.scope import current_account_id

from . import operations
from .forms import SettingsForm
from .models import AccountSetting
from .queries import lock_settings
from .registry import known_settings

# The key of the page's only form in the token of shown values.
_PAGE = "settings"


@admin.register(AccountSetting)
class AccountSettingAdmin(ReadOnlyAdmin):
    """All settings on one page, in place of a list of those that the account has set."""

    area = "settings"
    # A value may be a secret, so only the form shows it, masked.
    fields = ("name", "updated_at")

    def changelist_view(
        self, request: HttpRequest, extra_context: Mapping[str, object] | None = None
    ) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            form = SettingsForm(_read_fingerprints())
        else:
            if not self.has_write_permission(request):
                raise PermissionDenied
            # Before the stored values are compared with the shown ones, so that nobody changes them in between.
            lock_settings()
            fingerprints, shown = _read_fingerprints(), read_shown_values(request)
            form = SettingsForm(
                fingerprints, request.POST, fingerprints if shown is None else shown.get(_PAGE)
            )
            if form.is_valid() and self._save(request, form):
                return redirect(request.path)
        context = {
            **self.admin_site.each_context(request),
            "title": _("Settings"),
            "opts": self.opts,
            "form": form,
            "shown": sign_shown_values({_PAGE: form.fingerprints}),
            "may_change": self.has_write_permission(request),
        }
        return TemplateResponse(request, "backoffice/settings.html", context)

    def _save(self, request: HttpRequest, form: SettingsForm) -> bool:
        """Save the changed settings. If that is refused, add the reasons to the form and return False."""
        try:
            operations.change_settings(changes={name: form.cleaned_data[name] for name in form.changed_data})
        except ValidationFailed as refusal:
            for error in refusal.errors:
                form.add_error(error.field.removeprefix("settings."), translate(error.detail))
            return False
        record_one(
            request,
            subject=self.opts.label_lower,
            subject_id=current_account_id(),
            kind=StaffAction.Kind.CHANGED,
            summary=", ".join(form.changed_data),
            changes=describe_settings(
                form.changed_data,
                form.fingerprints,
                form.cleaned_data,
                secrets={name for name, setting in known_settings().items() if setting.is_secret},
            ),
        )
        self.message_user(request, _("The settings are saved."), messages.SUCCESS)
        return True


def _read_fingerprints() -> Values:
    """Return the account's own values; of a secret, only the time of its last change."""
    known = known_settings()
    own = AccountSetting.objects.filter(name__in=known).values_list("name", "value", "updated_at")
    return {name: str(at) if value and known[name].is_secret else value for name, value, at in own}
