"""A browser for the back office: a session, and forms that are filled in and sent."""

from itertools import count
from typing import Any

from django.forms import BoundField, Widget
from django.http import HttpResponse
from django.test import Client, TestCase

from accounts.models import StaffRole, User
from accounts.operations import UNLIMITED, add_member, create_role
from tests.shops import Shop

ROOT = "/backoffice/"

_numbers = count(1)


class StaffClient:
    """A logged-in user; paths are relative to the back office."""

    def __init__(self, user: User, **options: Any) -> None:
        self.user = user
        self.browser = Client(**options)
        self.browser.force_login(user)

    def get(self, path: str = "", **query: Any) -> HttpResponse:
        return self.browser.get(ROOT + path, query)

    def post(self, path: str, data: dict[str, Any] | None = None) -> HttpResponse:
        # Nothing commits inside a test's transaction, so on_commit callbacks are run explicitly.
        with TestCase.captureOnCommitCallbacks(execute=True):
            return self.browser.post(ROOT + path, data or {})

    def choose(self, shop: Shop) -> HttpResponse:
        return self.post("account/", {"account_id": shop.id})

    def fill(self, path: str, **changes: Any) -> HttpResponse:
        """Open the form at a path, change some fields and send it. Names of inlines have `__` for `-`."""
        data = filled(self.get(path)) | {name.replace("__", "-"): value for name, value in changes.items()}
        return self.post(path, {name: value for name, value in data.items() if value is not None})

    def act(self, path: str, action: str, *ids: int) -> HttpResponse:
        """Run a list action on the rows with these ids."""
        return self.post(path, {"action": action, "_selected_action": list(ids), "index": 0})

    def act_on_all(self, path: str, name: str, *ids: int, **fields: Any) -> HttpResponse:
        """Confirm the preview of a list action on the rows with these ids."""
        return self.post(f"{path}bulk/{name}/", {"ids": list(ids)} | fields)

    def confirm(self, path: str, **fields: Any) -> HttpResponse:
        """Fill in and send the dialog of an action."""
        return self.post(path, {"_form_submitted": "on"} | fields)


def make_user(**fields: Any) -> User:
    """Create a user who may log in, without a usable password unless one is given."""
    defaults = {"username": f"user-{next(_numbers)}", "is_staff": True}
    return User.objects.create_user(**defaults | fields)


def make_operator() -> StaffClient:
    return StaffClient(make_user(is_superuser=True))


def make_staff(*shops: Shop, role: str = "owner", **options: Any) -> StaffClient:
    """Create a staff member of these shops who has chosen the first one."""
    client = StaffClient(make_user(), **options)
    for shop in shops:
        with shop.scope():
            add_member(account_id=shop.id, user_id=client.user.pk, role=role)
    if shops:
        session = client.browser.session
        session["account_id"] = shops[0].id
        session.save()
    return client


def make_role(shop: Shop, *scopes: str, name: str = "Own") -> StaffRole:
    """Create a role of the shop's own with just these scopes."""
    with shop.scope():
        return create_role(grantor=UNLIMITED, fields={"name": name, "scopes": list(scopes)})


def filled(page: HttpResponse) -> dict[str, Any]:
    """Return what a browser would send for the unedited form of an admin page."""
    assert page.status_code == 200, page.status_code
    formsets = [inline.formset for inline in page.context.get("inline_admin_formsets", [])]
    forms = [page.context["adminform"].form if "adminform" in page.context else page.context["form"]]
    for formset in formsets:
        forms += [formset.management_form, *formset.forms]
    bound = [field for form in forms for field in form]
    initial = {field.html_initial_name: field.value() for field in bound if field.field.show_hidden_initial}
    if "shown" in page.context:
        initial["_shown"] = page.context["shown"]
    return initial | {name: value for field in bound for name, value in _sent(field).items()}


def _sent(field: BoundField) -> dict[str, Any]:
    value = field.value()
    if hasattr(field.field.widget, "widgets"):
        # A submitted form has the parts as they were typed.
        parts = value if isinstance(value, list) else field.field.widget.decompress(value)
        return {f"{field.html_name}_{index}": part or "" for index, part in enumerate(parts)}
    if value is None or value is False:
        return {} if value is False else {field.html_name: ""}
    if isinstance(value, str):
        return {field.html_name: _sent_text(field.field.widget, value)}
    return {field.html_name: "on" if value is True else value}


def _sent_text(widget: Widget, text: str) -> str:
    """Return a text with the line breaks that browsers send: CR LF from a text area, none from a single-line input."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    is_one_line = getattr(widget, "input_type", "hidden") != "hidden"
    return ("" if is_one_line else "\r\n").join(lines)


def messages_of(response: HttpResponse) -> list[str]:
    """Return the messages on the page that a POST redirects to."""
    return [str(message) for message in response.wsgi_request._messages]
