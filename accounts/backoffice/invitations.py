"""The pages behind the link of an invitation. They need no log-in, and belong to no shop until it is accepted."""

from django import forms
from django.contrib import admin
from django.contrib.auth import login
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldAdminTextInputWidget

from accounts.models import StaffInvitation, User
from accounts.operations import accept_invitation, decline_invitation
from accounts.operations.invitations import FoundInvitation, find_invitation, hash_token
from accounts.roles import title_of
from commerce.backoffice.history import record
from commerce.backoffice.models import StaffAction
from commerce.errors import NotFound
from commerce.tenancy.scope import account_scope
from commerce.wording import mark

from .choice import switch_account
from .gate import find_missing_step

_SESSION_KEY = "invitation"


class NewPersonForm(forms.ModelForm):
    """The log-in of somebody who has none yet."""

    password = forms.CharField(
        label=gettext_lazy("Password"),
        strip=False,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"}),
    )
    repeated = forms.CharField(
        label=gettext_lazy("Password again"),
        strip=False,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"}),
    )

    class Meta:
        model = User
        fields = ("username", "first_name", "last_name")
        widgets = {
            "username": UnfoldAdminTextInputWidget(attrs={"autocomplete": "username"}),
            "first_name": UnfoldAdminTextInputWidget(attrs={"autocomplete": "given-name"}),
            "last_name": UnfoldAdminTextInputWidget(attrs={"autocomplete": "family-name"}),
        }

    def clean_username(self) -> str:
        username = self.cleaned_data["username"]
        # A name that is taken is refused, which must not tell whether an address has a log-in.
        if "@" in username:
            raise ValidationError(_("Choose a name without @."))
        return username

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or self.cleaned_data
        password = self.cleaned_data.get("password")
        if password and password != self.cleaned_data.get("repeated"):
            self.add_error("repeated", _("The two passwords differ."))
        elif password:
            try:
                validate_password(password, self.instance)
            except ValidationError as error:
                self.add_error("password", error)
        return cleaned


@never_cache
@require_GET
def open_invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Keep the token in the session, so that no page has it in its address, and go on to the page that asks."""
    request.session[_SESSION_KEY] = token
    return redirect("admin:answer_invitation")


@never_cache
@require_http_methods(["GET", "POST"])
def answer_invitation(request: HttpRequest) -> HttpResponse:
    """Ask the invited person to join or decline, with the log-in that they have or a new one."""
    token = request.session.get(_SESSION_KEY, "")
    found = find_invitation(token)
    if found is None:
        return _render(request, {"title": _("This invitation has ended")}, status=404)
    if request.method == "POST" and "decline" in request.POST:
        with account_scope(found.account_id):
            decline_invitation(token=token)
        del request.session[_SESSION_KEY]
        return _render(request, {"title": _("You have declined the invitation")})
    user = request.user if request.user.is_authenticated and request.user.is_staff else None
    if user is not None and (missing := find_missing_step(request)):
        return redirect(f"{reverse(missing)}?{urlencode({'next': request.path})}")
    if user is None:
        form = NewPersonForm(request.POST if "username" in request.POST else None)
        if form.is_valid():
            return _join(request, found, token, form)
    else:
        form = None
        if request.method == "POST" and "accept" in request.POST:
            return _join(request, found, token, user)
    title = _("Join %(shop)s") % {"shop": found.shop_name}
    role = title_of(found.role, own_name=found.own_role_name)
    return _render(request, {"title": title, "invitation": found, "role": role, "form": form})


def _join(
    request: HttpRequest, found: FoundInvitation, token: str, person: User | NewPersonForm
) -> HttpResponse:
    """Accept the invitation. A new person is created in the same transaction, and logged in."""
    try:
        with account_scope(found.account_id), transaction.atomic():
            user = person if isinstance(person, User) else _create_user(person, token)
            membership = accept_invitation(token=token, user=user, now=timezone.now())
            request.user = user
            record(request, [membership], StaffAction.Kind.ADDED, mark("accepted the invitation"))
    except NotFound:
        return _render(request, {"title": _("This invitation has ended")}, status=404)
    if not isinstance(person, User):
        login(request, user)
    request.session.pop(_SESSION_KEY, None)
    switch_account(request, found.account_id)
    return redirect("admin:index")


def _create_user(form: NewPersonForm, token: str) -> User:
    user = form.save(commit=False)
    # The link shows that the address is theirs.
    user.email = (
        StaffInvitation.objects.filter(token_hash=hash_token(token)).values_list("email", flat=True).first()
        or ""
    )
    user.is_staff = True
    user.set_password(form.cleaned_data["password"])
    user.save()
    return user


def _render(request: HttpRequest, context: dict[str, object], *, status: int = 200) -> HttpResponse:
    context = {**admin.site.each_context(request), **context}
    return TemplateResponse(request, "backoffice/invitation.html", context, status=status)
