"""The columns, rows and cells of a grid, and the form that reads them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django import forms
from django.utils.translation import gettext as _

from .locales import current_locale
from .measure_fields import MeasureField
from .measures import Measure, Money
from .shown import MergingForm, Values


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a grid; `id` is that of its row, such as a market."""

    id: int
    title: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A number of a grid. Where nothing is stored, `value` is None."""

    row_id: int
    column_id: int
    value: int | None
    measure: Measure
    # What staff should know about it, such as units that are reserved.
    hint: str = ""
    is_fixed: bool = False

    @property
    def unit(self) -> str:
        return self.measure.currency if isinstance(self.measure, Money) else ""

    @property
    def name(self) -> str:
        return f"cell-{self.row_id}-{self.column_id}"

    def of_row(self, row_id: int) -> "Cell":
        """Return the same cell of another row."""
        return replace(self, row_id=row_id)

    def format(self, value: int | None) -> str:
        return "-" if value is None else self.measure.format(value, current_locale())


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a grid with its cells in the order of the columns."""

    id: int
    title: str
    detail: str
    link: str
    cells: list[Cell] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    columns: list[Column]
    rows: list[Row]

    def list_cells(self) -> dict[str, Cell]:
        """Return the cells by the names of their inputs."""
        return {cell.name: cell for row in self.rows for cell in row.cells}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A changed cell, as the preview shows it."""

    row: Row
    column: Column
    cell: Cell
    value: int | None

    @property
    def before(self) -> str:
        return self.cell.format(self.cell.value)

    @property
    def after(self) -> str:
        return self.cell.format(self.value)


class GridForm(MergingForm, forms.Form):
    """The cells of a grid. A cell that wasn't sent counts as unedited."""

    def __init__(
        self,
        grid: Grid,
        data: Mapping[str, str] | None = None,
        shown: Values | None = None,
        *,
        may_be_emptied: bool = False,
    ) -> None:
        self.grid = grid
        self.cells = {name: cell for name, cell in grid.list_cells().items() if not cell.is_fixed}
        stored = {name: cell.value for name, cell in self.cells.items()}
        # With the unit, since the same number is another amount in another currency.
        fingerprints: Values = {name: [cell.value, cell.unit] for name, cell in self.cells.items()}
        seen: Values = fingerprints | (shown or {})
        initial = {name: seen[name][0] for name in self.cells}
        super().__init__(data, initial=initial)
        columns = {column.id: column for column in grid.columns}
        titles = {row.id: row.title for row in grid.rows}
        for name, cell in self.cells.items():
            label = f"{titles[cell.row_id]}, {columns[cell.column_id].title}"
            widget = forms.TextInput(
                attrs={"class": "grid-input", "aria-label": label, "data-stored": _render(cell, cell.value)}
            )
            # Where nothing is stored, a cell can be left empty.
            is_required = cell.value is not None and not may_be_emptied
            self.fields[name] = MeasureField(
                measure=cell.measure, label=label, required=is_required, min_value=0, widget=widget
            )
        if data is not None:
            unsent = {
                name: _render(cell, initial[name]) for name, cell in self.cells.items() if name not in data
            }
            self.data = {**{name: data[name] for name in data}, **unsent}
        self.merge(shown=seen, stored=stored, fingerprints=fingerprints)
        self.has_lost_rows = shown is not None and not shown.keys() <= self.cells.keys()

    def clean(self) -> dict[str, Any]:
        if self.has_lost_rows:
            text = _(
                "Nothing was saved: some of the rows were archived meanwhile. Check the others and save again."
            )
            self.add_error(None, text)
        return self.cleaned_data

    def format_stored_value(self, name: str) -> str:
        cell = self.cells[name]
        return "" if cell.value is None else cell.format(cell.value)

    def list_changes(self) -> list[Change]:
        """Return the changed cells in the order of the grid, of a valid form."""
        columns = {column.id: column for column in self.grid.columns}
        changed = set(self.changed_data)
        return [
            Change(row=row, column=columns[cell.column_id], cell=cell, value=self.cleaned_data[cell.name])
            for row in self.grid.rows
            for cell in row.cells
            if cell.name in changed
        ]


def _render(cell: Cell, value: int | None) -> str:
    return "" if value is None else cell.measure.render(value, current_locale())
