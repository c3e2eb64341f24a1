"""Model instances, read and written by prepared statements."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Expression

from commerce.tenancy.models import AccountOwned
from commerce.tenancy.statements import Call, Prepared

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


class Update(Generic[M]):
    """Writes columns of a row, like `save(update_fields=...)`, whose text Django makes anew each time."""

    def __init__(self, model: type[M], names: Iterable[str]) -> None:
        by_name = {field.name: field for field in model._meta.concrete_fields}
        by_name |= {field.attname: field for field in model._meta.concrete_fields}
        self._fields = [by_name[name] for name in names]
        columns = ", ".join(f"{field.column} = %s" for field in self._fields)
        table = model._meta.db_table
        self._statement = Prepared(f"UPDATE {table} SET {columns} WHERE account_id = %s AND id = %s")  # noqa: S608

    def call(self, instance: M) -> Call:
        values = [
            field.get_db_prep_save(field.pre_save(instance, add=False), connection) for field in self._fields
        ]
        return self._statement.call([*values, instance.account_id, instance.pk])
