"""Tables of pages made from a form (templates/backoffice/form_and_tables.html)."""

from collections.abc import Sequence

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString


def build_table(
    title: str, headers: list[str], rows: Sequence[Sequence[object]], *, hidden: int = 0
) -> dict[str, object]:
    """Build a table for the template. `hidden` is the number of rows that were left out; below 0 counts as none."""
    return {"title": title, "table": {"headers": headers, "rows": rows}, "hidden": max(hidden, 0)}


def link_page(view_name: str, row_id: int, text: str) -> SafeString:
    """Link a text to the page of a row. The text is escaped."""
    return format_html(
        '<a href="{}" class="font-semibold text-important">{}</a>', reverse(view_name, args=[row_id]), text
    )
