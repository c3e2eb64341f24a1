from typing import Any

from django import template
from django.contrib.admin.views.main import ChangeList
from django.utils.functional import Promise

from commerce.backoffice.display import format_money
from commerce.backoffice.empty_lists import describe_empty_list
from commerce.backoffice.history import render_changes, title_person, translate_summary
from commerce.backoffice.saved_filters import Tab

register = template.Library()
register.simple_tag(format_money, name="money")
register.simple_tag(render_changes, name="changes")
register.simple_tag(translate_summary, name="summary")
register.simple_tag(title_person, name="person")


@register.filter
def admin_address(opts: Any, name: str) -> str:
    """Return the URL name of one of a model's pages, such as that of its saved filters."""
    return f"admin:{opts.app_label}_{opts.model_name}_{name}"


@register.simple_tag
def empty_list(changelist: ChangeList) -> str | Promise:
    return describe_empty_list(changelist.opts.label_lower)


@register.simple_tag(takes_context=True)
def list_tabs(context: dict[str, Any], changelist: Any) -> list[Tab] | tuple[()]:
    """Load the saved filters of a list, if its pages offer them."""
    load = getattr(changelist.model_admin, "list_tabs", None)
    return load(context["request"]) if load else ()
