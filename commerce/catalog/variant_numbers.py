"""Numbers of a variant that are kept elsewhere, such as prices by market, as inputs in the variant's row."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest
from unfold.decorators import display

from commerce.backoffice.display import StrOrPromise
from commerce.backoffice.forms import RuledModelForm
from commerce.backoffice.grid_forms import Cell, Change, Column, Row
from commerce.backoffice.grids import GridPage
from commerce.backoffice.locales import current_locale
from commerce.backoffice.measure_fields import MeasureField, Read
from commerce.backoffice.measures import Measure
from commerce.backoffice.shown import Values
from commerce.errors import FieldError, Refusal, ValidationFailed

from .models import Variant

# Columns of each kind on a product's page. Grids show more.
MAX_SHOWN_COLUMNS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of numbers: the grid that loads and saves them. `prefix` begins the titles of its columns."""

    grid: type[GridPage]
    # The area of scopes that a member needs.
    area: str
    prefix: StrOrPromise = ""
    # What saving needs besides the number, such as a reason.
    options: Mapping[str, Any] = field(default_factory=dict)


_kinds: list[Kind] = []


def register_variant_numbers(kind: Kind) -> None:
    """Register numbers for the rows of variants; apps above the catalog do so in their admin modules."""
    _kinds.append(kind)


class _Loaded:
    """The numbers of one kind, of all variants of a page."""

    def __init__(self, kind: Kind, model_admin: Any) -> None:
        self.kind = kind
        self.grid = kind.grid(model_admin)
        self.columns = self.grid.list_columns()[:MAX_SHOWN_COLUMNS]
        self.rows: dict[int, Row] = {}

    def load(self, variant_ids: list[int], *, is_saving: bool) -> None:
        if is_saving:
            self.grid.lock(variant_ids, self.columns)
        self.rows = {row.id: row for row in self.grid.load(variant_ids, self.columns)}

    def list_names(self) -> dict[str, Column]:
        """Return the columns by the names of their inputs."""
        return {f"{self.grid.name}_{column.id}": column for column in self.columns}

    def title(self, column: Column) -> str:
        detail = f" ({column.detail})" if column.detail else ""
        return f"{self.kind.prefix}{column.title}{detail}"


class Numbers:
    """The numbers of the variants of a page, of the kinds that the member `may_use`."""

    def __init__(self, model_admin: Any, *, may_use: Callable[[str], bool]) -> None:
        self.kinds = [_Loaded(kind, model_admin) for kind in _kinds if may_use(kind.area)]
        # Made once, because Django compares read-only fields with the page's.
        self._columns = [
            self._make_column(name, each.title(column))
            for each in self.kinds
            for name, column in each.list_names().items()
        ]

    def load(self, variant_ids: list[int], *, is_saving: bool) -> None:
        """Load the numbers of these variants, in a fixed number of statements for any number of them."""
        for each in self.kinds:
            each.load(variant_ids, is_saving=is_saving)

    def list_names(self) -> list[str]:
        return [name for each in self.kinds for name in each.list_names()]

    def list_columns(self) -> list[Callable[[Variant], str]]:
        """Return columns that show the numbers where they can't be edited."""
        return self._columns

    def _make_column(self, name: str, title: str) -> Callable[[Variant], str]:
        @display(description=title)
        def column(variant: Variant) -> str:
            cell = self.find_cells(variant.pk)[name]
            return cell.format(cell.value)

        return column

    def find_cells(self, variant_id: int | None) -> dict[str, Cell]:
        """Return a variant's cells by the names of their inputs; empty ones for a new variant."""
        found: dict[str, Cell] = {}
        for each in self.kinds:
            row = each.rows.get(variant_id) if variant_id is not None else None
            cells = row.cells if row else [each.grid.make_empty_cell(column) for column in each.columns]
            found |= dict(zip(each.list_names(), cells, strict=True))
        return found

    def make_fields(self) -> dict[str, MeasureField]:
        return {
            name: MeasureField(
                measure=each.grid.make_empty_cell(column).measure,
                label=each.title(column),
                required=False,
                min_value=0,
            )
            for each in self.kinds
            for name, column in each.list_names().items()
        }

    def save(self, request: HttpRequest, variant: Variant, form: RuledModelForm) -> None:
        """Save the changed numbers of a variant. Raises `ValidationFailed` for the inputs that are refused."""
        errors: list[FieldError] = []
        cells = self.find_cells(variant.pk)
        for each in self.kinds:
            saved = []
            for name, column in each.list_names().items():
                if name not in form.changed_data or form.cleaned_data[name] is None:
                    continue
                row = Row(id=variant.pk, title=variant.sku, detail="", link="")
                # A new variant has no cells yet.
                cell = cells[name].of_row(variant.pk)
                change = Change(row=row, column=column, cell=cell, value=form.cleaned_data[name])
                errors += _save(each, change, name)
                saved.append(change)
            each.grid.log(request, saved)
        if errors:
            raise ValidationFailed.of_errors(errors)


def _save(each: _Loaded, change: Change, name: str) -> Iterable[FieldError]:
    """Save a number, and return the errors of the operation for its input."""
    try:
        each.grid.save_cell(change, each.kind.options)
    except Refusal as refusal:
        if not refusal.errors:
            return [FieldError(name, refusal.code, refusal.detail)]
        return [FieldError(name, error.code, error.detail) for error in refusal.errors]
    return []


class NumbersForm(RuledModelForm):
    """A variant with its numbers. They are compared with what the page showed, as its columns are."""

    numbers: Numbers

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        variant = kwargs.get("instance")
        self.cells = self.numbers.find_cells(variant.pk if variant is not None else None)
        values = {name: cell.value for name, cell in self.cells.items()} if variant is not None else {}
        super().__init__(*args, **{**kwargs, "initial": values | (kwargs.get("initial") or {})})
        for name, cell in self.cells.items():
            if name in self.fields:
                # A number that is stored can be changed, but not removed.
                self.fields[name].required = cell.value is not None

    def require_measure(self, name: str, read: Read) -> Measure:
        return self.cells[name].measure if name in self.cells else super().require_measure(name, read)

    def make_fingerprints(self, stored: Mapping[str, object]) -> Values:
        numbers = {name: [cell.value, cell.unit] for name, cell in self.cells.items() if name in self.fields}
        return super().make_fingerprints(stored) | numbers

    def read_fingerprints(self, values: Values) -> dict[str, Any]:
        numbers = {name: values[name][0] for name in self.cells.keys() & values.keys()}
        columns = {name: value for name, value in values.items() if name not in self.cells}
        return super().read_fingerprints(columns) | numbers

    def read_stored_value(self, name: str) -> object:
        return self.cells[name].value if name in self.cells else super().read_stored_value(name)

    def render_stored_value(self, name: str) -> object:
        if name not in self.cells:
            return super().render_stored_value(name)
        cell = self.cells[name]
        return None if cell.value is None else cell.measure.render(cell.value, current_locale())

    def format_stored_value(self, name: str) -> str:
        if name not in self.cells:
            return super().format_stored_value(name)
        cell = self.cells[name]
        return "" if cell.value is None else cell.format(cell.value)
