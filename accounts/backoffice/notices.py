"""The label in the header of every page."""

from django.http import HttpRequest
from django.utils.translation import gettext as _

from commerce.backoffice.membership import get_membership


def warn_operator(request: HttpRequest) -> list[str] | None:
    """Return Unfold's label and its colour: operators are told that the shop's staff sees what they do."""
    membership = get_membership(request)
    if membership is None or not membership.is_operator:
        return None
    text = _("You act in %(shop)s as an operator. Its staff sees what you change.") % {
        "shop": membership.name
    }
    return [text, "warning"]
