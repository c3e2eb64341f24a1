"""The search of inputs that refer to rows."""

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.contrib.admin.exceptions import NotRegistered
from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from commerce.backoffice.options import AccountModelAdmin
from commerce.backoffice.picks import join_shown


class RowSearch(AutocompleteJsonView):
    """Searches as the list of the rows does, and names each row by `title_choice`.

    Django's view finds the model by a field that refers to it. A pick list stores ids, so it names the model itself.
    """

    def process_request(self, request: HttpRequest) -> tuple[str, Any, Any, str]:
        if request.GET.get("field_name"):
            _term, found_page, field, column = super().process_request(request)
            return _read_term(request), found_page, field, column
        try:
            model = apps.get_model(request.GET["app_label"], request.GET["model_name"])
            page = admin.site.get_model_admin(model)
        except (KeyError, LookupError, NotRegistered) as error:
            raise PermissionDenied from error
        if not isinstance(page, AccountModelAdmin) or not page.get_search_fields(request):
            raise PermissionDenied
        return _read_term(request), page, None, "pk"

    def get_queryset(self) -> QuerySet:
        if self.source_field is not None:
            return join_shown(self.model_admin, super().get_queryset())
        rows = self.model_admin.get_queryset(self.request)
        found, _may_repeat = self.model_admin.get_search_results(self.request, rows, self.term)
        return join_shown(self.model_admin, found)

    def serialize_result(self, obj: Model, to_field_name: str) -> dict[str, str]:
        page = self.model_admin
        title = page.title_choice(obj) if isinstance(page, AccountModelAdmin) else str(obj)
        return {"id": str(getattr(obj, to_field_name)), "text": title}


def _read_term(request: HttpRequest) -> str:
    # PostgreSQL refuses NUL in text.
    return request.GET.get("term", "").replace("\0", "")
