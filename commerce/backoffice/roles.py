"""Permissions by the scopes of the role in the chosen account, instead of Django's global permissions.

This is the only place that decides who may open or change a page: Django asks these methods before it shows a list, a
form, an inline or an action, and before it runs one, whichever URL was called.
"""

from typing import ClassVar

from django.contrib.admin.utils import flatten_fieldsets
from django.db.models import Model
from django.http import HttpRequest

from .membership import get_membership


class ByRole:
    """Permissions of a member on one model. Rows can be deleted only if `deletable` is set.

    `area` names the scopes that a member needs: `read_<area>` to look and `write_<area>` to change. Without an area, a
    page is for operators alone.
    """

    area: ClassVar[str] = ""
    deletable = False

    def get_area(self) -> str:
        return self.area

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        membership = get_membership(request)
        return membership is not None and membership.may_view(self.get_area())

    # Named as Django's methods are: Unfold calls it for actions with `permissions=["write"]`.
    def has_write_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Whether the member may change rows of this model, by a form or an action."""
        membership = get_membership(request)
        return membership is not None and membership.may_change(self.get_area())

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_write_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_write_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.deletable and self.has_write_permission(request)


class ReadOnly(ByRole):
    """Rows that can't be edited by a form; the page may offer actions."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        # Django accepts computed columns, such as `money_column`, only as read-only fields.
        return flatten_fieldsets(self.get_fieldsets(request, obj))  # type: ignore[attr-defined]
