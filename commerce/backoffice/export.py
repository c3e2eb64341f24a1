"""Export rows of a list as CSV."""

import csv
from dataclasses import is_dataclass

import orjson
from django.contrib import admin
from django.db.models import Model, QuerySet, Sum, Value
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from commerce.errors import ValidationFailed
from commerce.sizes import KIB, BytesOf, long_columns

MAX_EXPORT_BYTES = 32 * 1024 * KIB
# All columns of a row but the long ones.
_ROW_BYTES = 500


@admin.action(description=gettext_lazy("Export the selected rows as CSV"), permissions=["view"])
def export_as_csv(model_admin: admin.ModelAdmin, request: HttpRequest, queryset: QuerySet) -> HttpResponse:
    """Export every field of the table in the API's units: cents, basis points, UTC.

    Raises `ValidationFailed` if the rows are too large together.
    """
    # The columns that a list defers are exported too, and would otherwise be loaded by a statement for each row.
    rows = queryset.select_related(None).defer(None)
    _check_size(rows)
    name = f"{queryset.model._meta.db_table}-{timezone.now():%Y-%m-%d}.csv"
    response = HttpResponse(
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
    writer = csv.writer(response)
    writer.writerow(list_columns(queryset.model))
    # Built in full, because a streamed response would be read after the account's scope has ended.
    writer.writerows(map(read_cells, rows.iterator(chunk_size=1000)))
    return response


def _check_size(rows: QuerySet) -> None:
    columns = long_columns(rows)
    size = BytesOf(*columns) + _ROW_BYTES if columns else Value(_ROW_BYTES)
    # That many rows are too large in any case, so the rest needn't be read.
    counted = rows.order_by("pk").annotate(export_bytes=size)[: MAX_EXPORT_BYTES // _ROW_BYTES + 1]
    if (counted.aggregate(total=Sum("export_bytes"))["total"] or 0) > MAX_EXPORT_BYTES:
        raise ValidationFailed(
            _("The rows have more than %(size)s MiB together. Select fewer, with the filters.")
            % {"size": MAX_EXPORT_BYTES // (1024 * KIB)}
        )


def list_columns(model: type[Model]) -> list[str]:
    """Return the header: every field of the table except the account and what the database derives from others."""
    return [
        field.attname
        for field in model._meta.concrete_fields
        if field.name != "account" and not field.generated
    ]


def read_cells(row: Model) -> list[str]:
    """Return the values of a row in the order of `list_columns`."""
    return [_format_cell(getattr(row, column)) for column in list_columns(type(row))]


def _format_cell(value: object) -> str:
    if value is None:
        return ""
    # A snapshot column is a dataclass.
    if isinstance(value, dict | list) or is_dataclass(value):
        return orjson.dumps(value, option=orjson.OPT_UTC_Z).decode()
    text = str(value)
    # A spreadsheet would run text that starts like a formula (OWASP, "CSV Injection"). Negative numbers stay numbers.
    is_formula = isinstance(value, str) and text.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{text}" if is_formula else text
