"""Actions that open a dialog first, so that a GET changes nothing."""

from collections.abc import Callable
from functools import wraps

from django import forms
from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.db import DatabaseError, transaction
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from unfold.decorators import action
from unfold.enums import ActionVariant
from unfold.forms import BaseDialogForm

from commerce.errors import Refusal

from .forms import refusal_of, show_refusal
from .options import AccountModelAdmin

# The result of an action: a sentence for the staff member and the log, None if there was nothing to do, or a response.
Outcome = str | HttpResponse | None


def dialog_action(
    title: str,
    *,
    description: str,
    submit: str,
    form_class: type[forms.Form] = BaseDialogForm,
    icon: str | None = None,
    variant: ActionVariant = ActionVariant.DEFAULT,
    permission: str = "write",
) -> Callable[[Callable[..., Outcome]], Callable[..., HttpResponse]]:
    """Turn `act(self, request, row, fields)` into an action on one row, or on the list, where `row` is None.

    The action is atomic. A refusal of a field is shown next to it in the dialog, any other as a message.
    """
    dialog = {
        "title": title,
        "description": description,
        "form_class": form_class,
        "form_submit_text": submit,
    }

    def decorator(act: Callable[..., Outcome]) -> Callable[..., HttpResponse]:
        @action(description=title, permissions=[permission], icon=icon, variant=variant, dialog=dialog)
        @wraps(act)
        def asked(
            self: AccountModelAdmin, request: HttpRequest, form: forms.Form, object_id: str | None = None
        ) -> HttpResponse:
            row = None if object_id is None else _get_visible_row(self, request, object_id)
            refusal, response = _attempt(
                self, request, row, lambda: act(self, request, row, form.cleaned_data)
            )
            if refusal is None:
                return response
            if refusal.errors and show_refusal(form, refusal):
                context = {"dialog": dialog, "form": form, "form_submit_text": submit}
                return render(request, "unfold/helpers/dialog.html", context)
            self.message_user(request, refusal.detail, messages.ERROR)
            return response

        return asked

    return decorator


def _get_visible_row(model_admin: AccountModelAdmin, request: HttpRequest, object_id: str) -> Model:
    row = model_admin.get_object(request, unquote(object_id))
    if row is None:
        raise Http404
    return row


def _attempt(
    model_admin: AccountModelAdmin, request: HttpRequest, row: Model | None, act: Callable[[], Outcome]
) -> tuple[Refusal | None, HttpResponse]:
    """Run the action; return the refusal, if any, and the response to the dialog."""
    reload = HttpResponse(headers={"HX-Refresh": "true"})
    try:
        with transaction.atomic():
            outcome = act()
            if isinstance(outcome, HttpResponse):
                return None, outcome
            if row is not None and outcome is not None:
                model_admin.log_change(request, row, outcome)
    except (Refusal, DatabaseError) as error:
        return refusal_of(error), reload
    if outcome is not None:
        model_admin.message_user(request, outcome, messages.SUCCESS)
    return None, reload
