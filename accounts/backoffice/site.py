"""The back office: Django's admin, with every page inside the scope of the chosen account."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack, nullcontext
from functools import partial, wraps

from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.dataclasses import DropdownItem
from unfold.sites import UnfoldAdminSite

from accounts.models import User
from accounts.operations.sessions import end_sessions
from accounts.queries import current_account
from commerce.backoffice.forms import refusal_of
from commerce.backoffice.membership import get_membership
from commerce.backoffice.requests import StaffRequest
from commerce.backoffice.wordings import explain
from commerce.errors import Refusal
from commerce.formats import parse_id
from commerce.tenancy.scope import account_in_scope, account_scope

from . import passwords
from .autocomplete import RowSearch
from .choice import find_memberships, load_chosen_membership, switch_account
from .gate import ask_for_missing_step
from .invitations import answer_invitation, open_invitation
from .login import LoginForm
from .navigation import build_sidebar
from .overview import load_overview
from .search import search
from .second_step import ask_second_step
from .security import manage_security

View = Callable[..., HttpResponse]

_SHOWN_ACCOUNTS = 50


class BackOfficeSite(UnfoldAdminSite):
    site_title = gettext_lazy("Back office")
    site_header = gettext_lazy("Back office")
    index_title = gettext_lazy("Overview")
    index_template = "backoffice/index.html"
    login_form = LoginForm

    def admin_view(self, view: View, cacheable: bool = False) -> View:
        # Inside Django's own wrapper, because users log in before they choose an account.
        if view in (self.logout, self.i18n_javascript, ask_second_step):
            return super().admin_view(view, cacheable)
        if view is manage_security:
            return super().admin_view(ask_for_missing_step(view, except_for="admin:security"), cacheable)
        if view != self.choose_account:
            view = self._scope_to_account(
                view, required=view not in (self.password_change, self.password_change_done)
            )
        return super().admin_view(ask_for_missing_step(view), cacheable)

    def login(self, request: HttpRequest, extra_context: Mapping[str, object] | None = None) -> HttpResponse:
        response = super().login(request, extra_context)
        form = (getattr(response, "context_data", None) or {}).get("form")
        if form is not None and form.wait_s:
            response.status_code = 429
            response["Retry-After"] = str(form.wait_s)
        return response

    def _scope_to_account(self, view: View, *, required: bool) -> View:
        @wraps(view)
        def scoped(request: StaffRequest, *args: object, **kwargs: object) -> HttpResponse:
            membership = load_chosen_membership(request)
            if membership is None:
                if not required:
                    return view(request, *args, **kwargs)
                return redirect(f"{reverse('admin:choose_account')}?{urlencode({'next': request.path})}")
            request.membership = membership
            request.open_scope = partial(account_scope, membership.account_id)
            # A page that calls another service opens its scopes around the call.
            opens_own = getattr(view, "opens_own_scopes", False)
            try:
                with ExitStack() as stack:
                    if not opens_own:
                        stack.enter_context(request.open_scope())
                    stack.enter_context(timezone.override(_read_time_zone(request)))
                    response = view(request, *args, **kwargs)
                    # Templates read rows. Django would render only after the scope is closed.
                    if isinstance(response, TemplateResponse):
                        response.render()
                    return response
            except (PermissionDenied, Http404, Refusal, DatabaseError) as error:
                return self._render_refusal(request, error)

        return scoped

    def _render_refusal(
        self, request: HttpRequest, error: PermissionDenied | Http404 | Refusal | DatabaseError
    ) -> HttpResponse:
        """Show a page that explains the refusal. Raises the error again if it is a bug."""
        if isinstance(error, PermissionDenied):
            status, title, reason = 403, _("Not allowed"), _("Your role in this shop doesn't allow this.")
        elif isinstance(error, Http404):
            status, title, reason = 404, _("Not found"), _("This page doesn't exist in this shop.")
        else:
            refusal = refusal_of(error)
            status, title, reason = refusal.status, _("Not possible"), explain(refusal)
        context = {**self.each_context(request), "title": title, "reason": reason}
        return TemplateResponse(request, "backoffice/refused.html", context, status=status)

    def autocomplete_view(self, request: HttpRequest) -> HttpResponseBase:
        return RowSearch.as_view(admin_site=self)(request)

    def index(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        return super().index(request, load_overview(request, now=timezone.now()) | (extra_context or {}))

    def extra_urls(self) -> list[URLPattern]:
        return [
            path("account/", self.admin_view(self.choose_account), name="choose_account"),
            path("second-step/", self.admin_view(ask_second_step), name="second_step"),
            path("security/", self.admin_view(manage_security), name="security"),
            *passwords.list_urls(),
            path("invitation/<str:token>/", open_invitation, name="open_invitation"),
            path("invitation/", answer_invitation, name="answer_invitation"),
        ]

    def choose_account(self, request: HttpRequest) -> HttpResponse:
        """Show the user's accounts; a POST chooses one."""
        if request.method == "POST":
            account_id = _read_account_id(request)
            if account_id is None or switch_account(request, account_id) is None:
                return self._render_refusal(request, Http404())
            target = request.POST.get("next", "")
            # A link to this page could name any address to go on to. Only paths of this host are followed.
            if not url_has_allowed_host_and_scheme(target, allowed_hosts=None):
                target = reverse("admin:index")
            return HttpResponseRedirect(target)
        search = request.GET.get("q", "").strip()
        # PostgreSQL refuses NUL in text.
        text = search.replace("\0", "")
        # One more than is shown, to know whether there are more.
        found = find_memberships(request.user, search=text, limit=_SHOWN_ACCOUNTS + 1)
        context = {
            **self.each_context(request),
            "title": _("Choose a shop"),
            "memberships": found[:_SHOWN_ACCOUNTS],
            "has_more": len(found) > _SHOWN_ACCOUNTS,
            "search": search,
            "next": request.GET.get("next", ""),
        }
        # Somebody who may enter no shop at all is refused, but told so on this page.
        status = 200 if found or search else 403
        return TemplateResponse(request, "backoffice/choose_account.html", context, status=status)

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        response = super().password_change(request, extra_context)
        # Django refuses the others anyway. Without their rows, nobody sees them among the sessions.
        if isinstance(response, HttpResponseRedirect) and isinstance(request.user, User):
            end_sessions(user=request.user, but=request.session.session_key)
        return response

    def each_context(self, request: HttpRequest) -> dict[str, object]:
        membership = get_membership(request)
        context = super().each_context(request)
        if membership is not None:
            context["site_header"] = membership.name
            context["site_subheader"] = f"{membership.handle} · {membership.title}"
            context["site_dropdown"] = [
                DropdownItem(title=_("Switch shop"), link=reverse("admin:choose_account"), icon="swap_horiz"),
                DropdownItem(title=_("Your log-in"), link=reverse("admin:security"), icon="passkey"),
            ]
        return context

    def get_sidebar_list(self, request: HttpRequest) -> list[dict[str, object]]:
        return build_sidebar(request, self.get_app_list(request))

    def search(self, request: HttpRequest, extra_context: Mapping[str, object] | None = None) -> HttpResponse:
        """Show what the search box finds: as a page, or as the part of it that the script of the box inserts."""
        # Not Unfold's own search, which caches findings for a user, whatever the account.
        text = request.GET.get("s", "")
        context: dict[str, object] = {"text": text.strip()}
        context["findings"] = search(request, text, self.get_app_list(request))
        if "part" in request.GET:
            return TemplateResponse(request, "backoffice/search_results.html", context)
        context |= {**self.each_context(request), "title": _("Search")}
        return TemplateResponse(request, "backoffice/search.html", context)


def _read_time_zone(request: StaffRequest) -> str:
    """Return the shop's time zone, in the scope that is open, or else in one of its own."""
    with nullcontext() if account_in_scope() else request.open_scope():
        return current_account().default_timezone


def _read_account_id(request: HttpRequest) -> int | None:
    return parse_id(request.POST.get("account_id", ""))
