"""Actions that open a dialog first, so that a GET changes nothing."""

from collections.abc import Callable
from copy import copy
from functools import wraps

from django import forms
from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.db import DatabaseError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from unfold.decorators import action
from unfold.enums import ActionVariant
from unfold.forms import BaseDialogForm

from commerce.errors import Refusal

from .audit import describe_changes
from .display import StrOrPromise
from .forms import get_form_state, refusal_of, show_refusal
from .options import AccountModelAdmin
from .wordings import explain

# The result of an action: a sentence for the staff member and the log, translated only when it is shown, None if there
# was nothing to do, or a response.
Outcome = StrOrPromise | HttpResponse | None


def dialog_action(
    title: StrOrPromise,
    *,
    description: StrOrPromise,
    submit: StrOrPromise,
    form_class: type[forms.Form] = BaseDialogForm,
    icon: str | None = None,
    variant: ActionVariant = ActionVariant.DEFAULT,
    permission: str = "write",
) -> Callable[[Callable[..., Outcome]], Callable[..., HttpResponse]]:
    """Turn `act(self, request, row, fields)` into an action on one row, or on the list, where `row` is None.

    The action runs in a savepoint. A refusal of a field is shown next to it in the dialog, any other as a message.
    """
    dialog = {
        "title": title,
        "description": description,
        "form_class": form_class,
        "form_submit_text": submit,
    }

    def decorator(act: Callable[..., Outcome]) -> Callable[..., HttpResponse]:
        @action(description=title, permissions=[permission], icon=icon, variant=variant, dialog=dialog)
        @wraps(act)  # Unfold finds the action's permissions by this name.
        def run(
            self: AccountModelAdmin, request: HttpRequest, form: forms.Form, object_id: str | None = None
        ) -> HttpResponse:
            row = None if object_id is None else self.get_object(request, unquote(object_id))
            # Unfold passes on any id from the URL, also one of a row that this page wouldn't list.
            if object_id is not None and row is None:
                raise Http404
            # The dialog was opened by htmx, which reloads the page behind it for this header.
            reload = HttpResponse(headers={"HX-Refresh": "true"})
            try:
                with transaction.atomic():
                    before = copy(row)
                    outcome = act(self, request, row, form.cleaned_data)
                    # Within the transaction, so that no action goes without its entry in the log.
                    if row is not None and isinstance(outcome, str | Promise):
                        after = self.get_queryset(request).filter(pk=row.pk).first()
                        get_form_state(request).changes += describe_changes(before, after)
                        self.log_change(request, row, outcome)
            except (Refusal, DatabaseError) as error:
                refusal = refusal_of(error)
                if refusal.errors and show_refusal(form, refusal):
                    context = {"dialog": dialog, "form": form, "form_submit_text": submit}
                    return render(request, "unfold/helpers/dialog.html", context)
                self.message_user(request, explain(refusal), messages.ERROR)
                return reload
            if isinstance(outcome, HttpResponse):
                return outcome
            if outcome is not None:
                self.message_user(request, outcome, messages.SUCCESS)
            return reload

        return run

    return decorator


def show_secret(request: HttpRequest, *, name: str, secret: str) -> HttpResponse:
    """Show a new secret in place of the dialog, once: a message would be stored."""
    response = render(request, "backoffice/secret.html", {"name": name, "secret": secret})
    response["HX-Retarget"] = response["HX-Reselect"] = "#dialog"
    return response
