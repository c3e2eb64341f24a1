"""Actions on one row that ask in a dialog first, and so change nothing on a GET."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.db import DatabaseError, transaction
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from unfold.decorators import action
from unfold.enums import ActionVariant
from unfold.forms import BaseDialogForm

from commerce.errors import Refusal

from .forms import refusal_of
from .options import AccountModelAdmin

Act = Callable[[AccountModelAdmin, HttpRequest, Any, dict[str, Any]], str | HttpResponse]


def asking(
    title: str,
    *,
    description: str,
    submit: str,
    form_class: type[BaseDialogForm] = BaseDialogForm,
    icon: str | None = None,
    variant: ActionVariant = ActionVariant.DEFAULT,
) -> Callable[[Act], Any]:
    """Turn `act(self, request, row, fields)` into an action with a dialog.

    It answers the sentence that staff see and the log keeps, or a page of its own. It happens whole or not at all.
    """
    dialog = {
        "title": title,
        "description": description,
        "form_class": form_class,
        "form_submit_text": submit,
    }

    def decorator(act: Act) -> Any:
        @action(description=title, permissions=["write"], icon=icon, variant=variant, dialog=dialog)
        @wraps(act)
        def asked(
            self: AccountModelAdmin, request: HttpRequest, form: BaseDialogForm, object_id: str
        ) -> HttpResponse:
            row = self.get_object(request, unquote(object_id))
            if row is None:
                raise Http404
            return _answer(self, request, row, lambda: act(self, request, row, form.cleaned_data))

        return asked

    return decorator


def _answer(
    model_admin: AccountModelAdmin, request: HttpRequest, row: Model, act: Callable[[], str | HttpResponse]
) -> HttpResponse:
    try:
        with transaction.atomic():
            outcome = act()
            if isinstance(outcome, HttpResponse):
                return outcome
            model_admin.log_change(request, row, outcome)
    except (Refusal, DatabaseError) as error:
        model_admin.message_user(request, refusal_of(error).detail, messages.ERROR)
    else:
        model_admin.message_user(request, outcome, messages.SUCCESS)
    return HttpResponse(headers={"HX-Refresh": "true"})
