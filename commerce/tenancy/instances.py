"""Model instances, read and written by prepared statements."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Generic, NamedTuple, Self, TypeVar

import orjson
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import NOT_PROVIDED, Expression, Field, JSONField
from django.db.models.base import ModelState
from django.utils.functional import Promise

from commerce.tenancy.models import AccountOwned, account_of
from commerce.tenancy.statements import Prepared, post, send

M = TypeVar("M", bound=AccountOwned)


class Columns(Generic[M]):
    """The columns of a model in a SELECT, then further ones that become attributes of the instances.

    Like `Model.objects.raw()`, which finds out again for each query which column belongs to which field.
    """

    def __init__(self, model: type[M], alias: str, further: Mapping[str, str] = {}) -> None:
        self._model = model
        self._names = [*(field.attname for field in model._meta.concrete_fields), *further]
        own = [f"{alias}.{field.column}" for field in model._meta.concrete_fields]
        # For `json_build_array()`, of models without dates, which JSON doesn't have. JSON within JSON is text.
        self.json_sql = ", ".join(
            f"{alias}.{field.column}::text" if isinstance(field, JSONField) else f"{alias}.{field.column}"
            for field in model._meta.concrete_fields
        )
        self.sql = ", ".join([*own, *(f"{expression} AS {name}" for name, expression in further.items())])

    def read(self, rows: Iterable[Sequence[Any]]) -> list[M]:
        return [self._read_one(list(row)) for row in rows]

    def _read_one(self, values: list[Any]) -> M:
        for place, expression, converters in self._converters:
            for convert in converters:
                values[place] = convert(values[place], expression, connection)
        # Like `Model.from_db`, in a fifth of the time, and without the signals of `__init__`, which nobody receives.
        instance = self._model.__new__(self._model)
        state = ModelState()
        state.adding, state.db = False, DEFAULT_DB_ALIAS
        vars(instance).update(zip(self._names, values, strict=True), _state=state)
        return instance

    @cached_property
    def _converters(self) -> list[tuple[int, Expression, Sequence[Callable[..., Any]]]]:
        """The fields whose values are stored in another form, such as JSON, by their place."""
        found: list[tuple[int, Expression, Sequence[Callable[..., Any]]]] = []
        for place, field in enumerate(self._model._meta.concrete_fields):
            expression = field.get_col(field.model._meta.db_table)
            converters = [
                *connection.ops.get_db_converters(expression),
                *expression.get_db_converters(connection),
            ]
            if converters:
                found.append((place, expression, converters))
        return found


class Encoder:
    """Writes columns of rows as JSON, as `json_populate_recordset` reads them.

    Asking each field for its value, as Django does, would take three times as long. JSON has all types but bytes.
    """

    def __init__(self, fields: "Iterable[Field[Any, Any]]") -> None:
        fields = list(fields)
        self._columns = [(str(field.column), field.attname) for field in fields]
        # Such as the time of the insertion.
        self._computed = [field for field in fields if type(field).pre_save is not Field.pre_save]
        self._json = [(str(field.column), field.encoder) for field in fields if isinstance(field, JSONField)]

    def encode(self, rows: Iterable[AccountOwned]) -> str:
        return orjson.dumps([self._read(row) for row in rows], default=_write_lazy_text).decode()

    def _read(self, row: AccountOwned) -> dict[str, Any]:
        for field in self._computed:
            field.pre_save(row, add=True)
        held = vars(row)
        values = {column: held[attname] for column, attname in self._columns}
        for column, encoder in self._json:
            if values[column] is not None:
                values[column] = orjson.Fragment(json.dumps(values[column], cls=encoder))
        return values


def _write_lazy_text(value: object) -> str:
    if isinstance(value, Promise):
        return str(value)
    raise TypeError(f"{type(value)} can't be written as JSON.")


class Insert(NamedTuple):
    """A statement that inserts rows of a model.

    `text` takes the rows as one parameter, which `encoder` writes. With `RETURNING` and `returned` after it, `fill_in()`
    sets the returned values.
    """

    text: str
    returned: str
    encoder: Encoder
    # Filled by the database: the id, and columns whose only default is the database's.
    filled: "list[Field[Any, Any]]"

    def fill_in(self, row: AccountOwned, values: Sequence[Any]) -> None:
        for field, value in zip(self.filled, values, strict=True):
            setattr(row, field.attname, value)
        row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS  # noqa: SLF001  as `bulk_create` does


def insert_row(row: AccountOwned) -> None:
    """Insert a row, like `save()`, and set its id. Columns that only the database fills are read back as well."""
    insert_apart([row])


def insert_apart(rows: Sequence[AccountOwned]) -> None:
    """Insert rows of one model by a statement each, in one message, and set their ids.

    Their values are sent as they are: within JSON, PostgreSQL would read long texts twice.
    """
    if not rows:
        return
    insert, statement, written = _prepare_single_insert(type(rows[0]))
    inserted = send(
        *(
            statement.call([_as_parameter(field, field.pre_save(row, add=True)) for field in written])
            for row in rows
        )
    )
    for row, found in zip(rows, inserted, strict=True):
        insert.fill_in(row, found.rows[0])


class LateText(NamedTuple):
    """A text that is put into the JSON of rows while they are inserted, since nobody knows it before.

    Such as an order's number, which an earlier statement of the same message draws. The SELECT `sql` finds it, with `values`
    as parameters. It replaces what is at `path`. Rows that have nothing there stay as they are.
    """

    path: tuple[str, ...]
    sql: str
    values: Sequence[Any]

    def within(self, name: str) -> Self:
        """The same text, for JSON that is a part of another, or for the column that contains the JSON."""
        return self._replace(path=(name, *self.path))


def post_rows(
    rows: Sequence[AccountOwned], *, skips_conflicts: bool = False, late: LateText | None = None
) -> None:
    """Insert rows of one model together with what is sent next (see `post`). Their ids stay unknown.

    With `skips_conflicts`, rows that a unique constraint forbids are left out. The path of `late` begins with the column.
    """
    if rows:
        place, values = (None, []) if late is None else ((late.path, late.sql), late.values)
        insert, statement = _prepare_insert(type(rows[0]), place, skips_conflicts=skips_conflicts)
        post(statement.call([*values, insert.encoder.encode(rows)]))


@cache
def _prepare_insert(
    model: type[AccountOwned], late: tuple[tuple[str, ...], str] | None, *, skips_conflicts: bool
) -> tuple[Insert, Prepared]:
    given = {}
    if late is not None:
        (column, *path), sql = late
        given[column] = f"jsonb_set({column}, '{{{','.join(path)}}}', to_jsonb(({sql})), false)"
    insert = compose_insert(model, given=given)
    conflicts = "ON CONFLICT DO NOTHING" if skips_conflicts else ""
    return insert, Prepared(f"{insert.text} {conflicts} RETURNING {insert.returned}")


@cache
def _prepare_single_insert(
    model: type[AccountOwned],
) -> "tuple[Insert, Prepared, list[Field[Any, Any]]]":
    insert = compose_insert(model)
    written = [field for field in model._meta.concrete_fields if field not in insert.filled]
    columns = ", ".join(str(field.column) for field in written)
    text = f"INSERT INTO {model._meta.db_table} ({columns}) VALUES ({', '.join(['%s'] * len(written))})"  # noqa: S608
    return insert, Prepared(f"{text} RETURNING {insert.returned}"), written


def insert_with_children(parent: AccountOwned, children: Sequence[AccountOwned], *, through: str) -> None:
    """Insert a row, and the rows whose foreign key `through` refers to it, in one statement. Set their ids."""
    first, further, statement = _prepare_family(type(parent), type(children[0]), through)
    (inserted,) = send(statement.call([first.encoder.encode([parent]), further.encoder.encode(children)]))
    *filled, child_ids = inserted.rows[0]
    first.fill_in(parent, filled)
    for child, child_id in zip(children, child_ids, strict=True):
        setattr(child, through, parent)
        further.fill_in(child, [child_id])


@cache
def _prepare_family(
    parent: type[AccountOwned], child: type[AccountOwned], through: str
) -> tuple[Insert, Insert, Prepared]:
    given = {str(field.column): "parent.id" for field in child._meta.concrete_fields if field.name == through}
    first, further = (
        compose_insert(parent),
        compose_insert(child, given=given, beside="parent"),
    )
    # The ids are given in the order of the rows.
    statement = f"""
        WITH parent AS ({first.text} RETURNING {first.returned}), children AS ({further.text} RETURNING id)
        SELECT {first.returned}, ARRAY(SELECT id FROM children ORDER BY id) FROM parent
    """  # noqa: S608
    return first, further, Prepared(statement)


def compose_insert(
    model: type[AccountOwned],
    *,
    given: Mapping[str, str] = {},
    beside: str | None = None,
    has_id: bool = False,
) -> Insert:
    """Compose the statement that inserts rows. With `has_id`, they bring their ids.

    Columns in `given` get an SQL expression, which may refer to the one-row table `beside`.
    """
    fields = model._meta.concrete_fields
    filled = [
        field for field in fields if _is_filled_by_database(field) or (field.primary_key and not has_id)
    ]
    written = [field for field in fields if field not in filled]
    columns = ", ".join(str(field.column) for field in written)
    values = ", ".join(given.get(str(field.column), str(field.column)) for field in written)
    returned = ", ".join(str(field.column) for field in filled)
    table = model._meta.db_table
    text = f"""
        INSERT INTO {table} ({columns})
        SELECT {values} FROM json_populate_recordset(NULL::{table}, %s::json){f", {beside}" if beside else ""}
    """  # noqa: S608
    return Insert(text, returned, Encoder(written), filled)


def _is_filled_by_database(field: "Field[Any, Any]") -> bool:
    return field.generated or (field.has_db_default() and field.default is NOT_PROVIDED)


def post_columns(row: AccountOwned, names: Sequence[str]) -> None:
    """Write columns of a row that this transaction has locked, together with what is sent next (see `post`).

    Like `save(update_fields=...)`, which composes its text again each time.
    """
    statement, fields = _compose_update(type(row), tuple(names))
    values = [_as_parameter(field, field.pre_save(row, add=False)) for field in fields]
    post(statement.call([*values, account_of(row), row.pk]))


def _as_parameter(field: "Field[Any, Any]", value: Any) -> Any:
    # Django's backend would also wrap integers by their size, which PostgreSQL finds out from the column.
    return (
        field.get_db_prep_save(value, connection)
        if isinstance(field, JSONField)
        else field.get_prep_value(value)
    )


@cache
def _compose_update(
    model: type[AccountOwned], names: tuple[str, ...]
) -> "tuple[Prepared, list[Field[Any, Any]]]":
    by_name = {name: field for field in model._meta.concrete_fields for name in (field.name, field.attname)}
    fields = [by_name[name] for name in names]
    columns = ", ".join(f"{field.column} = %s" for field in fields)
    table = model._meta.db_table
    return Prepared(f"UPDATE {table} SET {columns} WHERE account_id = %s AND id = %s"), fields  # noqa: S608
