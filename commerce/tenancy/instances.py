"""Model instances, read and written by prepared statements."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Generic, NamedTuple, TypeVar

import orjson
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection
from django.db.models import NOT_PROVIDED, Expression, Field, JSONField

from commerce.tenancy.models import AccountOwned, account_of
from commerce.tenancy.statements import Prepared, send

M = TypeVar("M", bound=AccountOwned)


class Columns(Generic[M]):
    """The columns of a model in a SELECT, then further ones that become attributes of the instances.

    Does what `Model.objects.raw()` does, which finds out anew with each query which column belongs to which field.
    """

    def __init__(self, model: type[M], alias: str, further: Mapping[str, str] = {}) -> None:
        self._model = model
        self._further = tuple(further)
        self._names = [field.attname for field in model._meta.concrete_fields]
        own = [f"{alias}.{field.column}" for field in model._meta.concrete_fields]
        self.sql = ", ".join([*own, *(f"{expression} AS {name}" for name, expression in further.items())])

    def read(self, rows: Iterable[Sequence[Any]]) -> list[M]:
        return [self._read_one(list(row)) for row in rows]

    def _read_one(self, values: list[Any]) -> M:
        for place, expression, converters in self._converters:
            for convert in converters:
                values[place] = convert(values[place], expression, connection)
        width = len(self._names)
        instance = self._model.from_db(DEFAULT_DB_ALIAS, self._names, values[:width])
        for name, value in zip(self._further, values[width:], strict=True):
            setattr(instance, name, value)
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


def insert_rows(rows: Sequence[AccountOwned]) -> None:
    """Insert rows of one model in one statement, like `bulk_create`, and set their ids.

    Columns that only the database fills (`db_default` alone) are read back as well.
    """
    if not rows:
        return
    insert = _compose_insert(type(rows[0]))
    (inserted,) = send(insert.statement.call([encode_rows(rows, insert.written)]))
    for row, filled in zip(rows, inserted.rows, strict=True):
        for field, value in zip(insert.filled, filled, strict=True):
            setattr(row, field.attname, value)
        row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS  # noqa: SLF001  as `bulk_create` does


class _Insert(NamedTuple):
    statement: Prepared
    written: "list[Field[Any, Any]]"
    # By the database: the id, and what has no default of its own here.
    filled: "list[Field[Any, Any]]"


@cache
def _compose_insert(model: type[AccountOwned]) -> _Insert:
    fields = model._meta.concrete_fields
    filled = [field for field in fields if field.primary_key or _is_filled_by_database(field)]
    written = [field for field in fields if field not in filled]
    columns = ", ".join(str(field.column) for field in written)
    returned = ", ".join(str(field.column) for field in filled)
    table = model._meta.db_table
    text = f"""
        INSERT INTO {table} ({columns})
        SELECT {columns} FROM json_populate_recordset(NULL::{table}, %s::json)
        RETURNING {returned}
    """  # noqa: S608
    return _Insert(Prepared(text), written, filled)


def _is_filled_by_database(field: "Field[Any, Any]") -> bool:
    return field.has_db_default() and field.default is NOT_PROVIDED


def encode_rows(rows: Iterable[AccountOwned], fields: "Iterable[Field[Any, Any]]") -> str:
    """Write rows as JSON, as `json_populate_recordset` reads them."""
    values = [
        {field.column: _as_json(field, field.pre_save(row, add=True)) for field in fields} for row in rows
    ]
    return orjson.dumps(values).decode()


def _as_json(field: "Field[Any, Any]", value: Any) -> Any:
    if isinstance(field, JSONField) and value is not None:
        return orjson.Fragment(json.dumps(value, cls=field.encoder))
    return field.get_prep_value(value)


def update_columns(row: AccountOwned, names: Sequence[str]) -> None:
    """Write columns of one row, like `save(update_fields=...)`, which composes its text anew each time.

    Raises `DatabaseError` if the row is gone, like Django.
    """
    statement, fields = _compose_update(type(row), tuple(names))
    values = [field.get_db_prep_save(field.pre_save(row, add=False), connection) for field in fields]
    (written,) = send(statement.call([*values, account_of(row), row.pk]))
    if not written.row_count:
        raise DatabaseError(f"There is no such row of {row._meta.db_table} any more.")


@cache
def _compose_update(
    model: type[AccountOwned], names: tuple[str, ...]
) -> "tuple[Prepared, list[Field[Any, Any]]]":
    by_name = {name: field for field in model._meta.concrete_fields for name in (field.name, field.attname)}
    fields = [by_name[name] for name in names]
    columns = ", ".join(f"{field.column} = %s" for field in fields)
    table = model._meta.db_table
    return Prepared(f"UPDATE {table} SET {columns} WHERE account_id = %s AND id = %s"), fields  # noqa: S608
