"""Filters of a list that members save under a name, as tabs above the list."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _

from commerce.formats import parse_id

from .lists import COUNTED
from .membership import name_person
from .models import SavedFilter

MOST_OF_MEMBER = 20
# Not filters: the page, the error and the count of a list. The search isn't kept either: it is often a person's email,
# which would stay when the person's data is erased.
_LEFT_OUT = ("p", "e", "q", COUNTED)


@dataclass(frozen=True, slots=True)
class Tab:
    """A saved filter above a list. `is_removable` if the member may remove it."""

    pk: int
    name: str
    link: str
    is_active: bool
    is_shared: bool
    is_removable: bool


class SavesFilters:
    """Adds tabs of saved filters to the list of a model admin, and the address that saves and removes them."""

    # Mixed into a model admin.
    opts: Any
    admin_site: Any

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_saved_filters"
        view = self.admin_site.admin_view(self.change_saved_filters)
        return [path("saved-filters/", view, name=name), *super().get_urls()]  # type: ignore[misc]

    def list_tabs(self, request: HttpRequest) -> list[Tab]:
        """Load the member's own filters of this list, and the shared ones, with one statement."""
        may_share = self._may_share(request)
        shown = _keep_filters(request.GET)
        address = self._get_address()
        return [
            Tab(
                pk=saved.pk,
                name=saved.name,
                link=f"{address}?{saved.query}",
                is_active=saved.query == shown,
                is_shared=saved.is_shared,
                is_removable=saved.username == name_person(request) or may_share,
            )
            for saved in self._find(request)
        ]

    def change_saved_filters(self, request: HttpRequest) -> HttpResponse:
        """Save the filters that the list shows under a name, or remove saved ones."""
        if request.method != "POST" or not self.has_view_permission(request):  # type: ignore[attr-defined]
            raise Http404
        query = self._remove_filters(request) if "remove" in request.POST else self._save_filters(request)
        return HttpResponseRedirect(f"{self._get_address()}?{query}")

    def _save_filters(self, request: HttpRequest) -> str:
        query = _keep_filters(QueryDict(request.POST.get("query", "")[:5000].replace("\0", "")))
        name = " ".join(request.POST.get("name", "").split())
        is_shared = "is_shared" in request.POST
        own = self._rows().filter(username=name_person(request))
        refusal = ""
        if not name or len(name) > 60 or not name.isprintable():
            refusal = _("Give the filters a name of at most 60 characters.")
        elif not query or len(query) > 1000:
            refusal = _("Choose filters first: there are none to save, or too many.")
        elif is_shared and not self._may_share(request):
            refusal = _("Your role may save filters for yourself only.")
        elif own.exclude(name=name).count() >= MOST_OF_MEMBER:
            refusal = _("You have saved %(number)d filters of this list. Remove one first.") % {
                "number": MOST_OF_MEMBER
            }
        if refusal:
            messages.error(request, refusal)
            return query
        saved = SavedFilter(
            page=self.opts.label_lower,
            username=name_person(request),
            name=name,
            query=query,
            is_shared=is_shared,
        )
        # A name that the member has used already is given to the new filters.
        SavedFilter.objects.bulk_create(
            [saved],
            update_conflicts=True,
            unique_fields=["account", "page", "username", "name"],
            update_fields=["query", "is_shared"],
        )
        messages.success(request, _("The filters are saved as “%(name)s”.") % {"name": name})
        return query

    def _remove_filters(self, request: HttpRequest) -> str:
        saved = self._find(request).filter(pk=parse_id(request.POST["remove"]) or 0).first()
        if saved is None or not (saved.username == name_person(request) or self._may_share(request)):
            raise Http404
        saved.delete()
        messages.success(request, _("The saved filters “%(name)s” are removed.") % {"name": saved.name})
        return ""

    def _find(self, request: HttpRequest) -> QuerySet[SavedFilter]:
        mine_or_shared = Q(username=name_person(request)) | Q(is_shared=True)
        return self._rows().filter(mine_or_shared).order_by("name", "pk")

    def _rows(self) -> QuerySet[SavedFilter]:
        return SavedFilter.objects.filter(page=self.opts.label_lower)

    def _may_share(self, request: HttpRequest) -> bool:
        return self.has_write_permission(request)  # type: ignore[attr-defined]

    def _get_address(self) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")


def _keep_filters(parameters: QueryDict) -> str:
    """Return the filters and the order of a list's address, always written in the same way."""
    kept = parameters.copy()
    for name in _LEFT_OUT:
        kept.pop(name, None)
    ordered = QueryDict(mutable=True)
    for name in sorted(kept):
        ordered.setlist(name, kept.getlist(name))
    return ordered.urlencode()
