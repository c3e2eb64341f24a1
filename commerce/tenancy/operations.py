"""Migration operations that isolate a table in the migration that creates it."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import Model

from .fields import AccountForeignKey
from .roles import APP_ROLE, RESOLVER_ROLE

POLICY = "account_isolation"


class _SqlOperation(Operation, ABC):
    """Statements that change the database, forwards and in reverse, and nothing that Django knows about the models."""

    reversible = True
    reduces_to_sql = True

    @abstractmethod
    def list_forwards(self, app_label: str, state: ProjectState) -> Iterator[str]: ...

    @abstractmethod
    def list_backwards(self, app_label: str, state: ProjectState) -> Iterator[str]: ...

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        pass

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for statement in self.list_forwards(app_label, to_state):
            # Without parameters, a % in a statement is no placeholder.
            schema_editor.execute(statement, params=None)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for statement in self.list_backwards(app_label, from_state):
            schema_editor.execute(statement, params=None)


class _TableOperation(_SqlOperation):
    """Statements on the table of one model."""

    def __init__(self, model_name: str) -> None:
        self.model_name = model_name

    @abstractmethod
    def forwards(self, model: type[Model]) -> Iterator[str]: ...

    @abstractmethod
    def backwards(self, model: type[Model]) -> Iterator[str]: ...

    def list_forwards(self, app_label: str, state: ProjectState) -> Iterator[str]:
        return self.forwards(state.apps.get_model(app_label, self.model_name))

    def list_backwards(self, app_label: str, state: ProjectState) -> Iterator[str]:
        return self.backwards(state.apps.get_model(app_label, self.model_name))

    def describe(self) -> str:
        return f"{type(self).__name__} {self.model_name}"


class IsolateByAccount(_TableOperation):
    """Add a composite primary key, composite references and a forced policy to an account-owned table.

    Referenced tables must be isolated first. The serving role may only read and insert into an append-only table, and a
    trigger refuses changes by anyone else.
    """

    def __init__(self, model_name: str, *, append_only: bool = False) -> None:
        super().__init__(model_name)
        self.append_only = append_only

    def deconstruct(self) -> tuple[str, list[object], dict[str, object]]:
        return type(self).__name__, [self.model_name], {"append_only": True} if self.append_only else {}

    def forwards(self, model: type[Model]) -> Iterator[str]:
        table = model._meta.db_table
        yield f"ALTER TABLE {table} DROP CONSTRAINT {table}_pkey"
        yield f"ALTER TABLE {table} ADD CONSTRAINT {table}_pkey PRIMARY KEY (account_id, id)"
        # A plain foreign key would ignore the policy, and could refer to another account's row.
        for field in _list_references(model):
            yield _add_reference(table, field)
        yield from _force_policy(table, POLICY, "account_id = current_account_id()")
        if self.append_only:
            # The missing right stops the serving role, and the trigger everybody else, such as a migration by mistake.
            yield f"REVOKE UPDATE, DELETE ON {table} FROM {APP_ROLE}"
            yield (
                f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
                "FOR EACH ROW EXECUTE FUNCTION refuse_change()"
            )

    def backwards(self, model: type[Model]) -> Iterator[str]:
        table = model._meta.db_table
        if self.append_only:
            yield f"DROP TRIGGER {table}_append_only ON {table}"
            yield f"GRANT UPDATE, DELETE ON {table} TO {APP_ROLE}"
        yield from _drop_policy(table, POLICY)
        for field in _list_references(model):
            yield f"ALTER TABLE {table} DROP CONSTRAINT {_name_reference(table, field)}"
        yield f"ALTER TABLE {table} DROP CONSTRAINT {table}_pkey"
        yield f"ALTER TABLE {table} ADD CONSTRAINT {table}_pkey PRIMARY KEY (id)"


class AddAccountReference(_TableOperation):
    """Add the composite reference of an `AccountForeignKey` that is added to an already isolated table."""

    def __init__(self, model_name: str, field_name: str) -> None:
        super().__init__(model_name)
        self.field_name = field_name

    def forwards(self, model: type[Model]) -> Iterator[str]:
        yield _add_reference(model._meta.db_table, self._find_reference(model))

    def backwards(self, model: type[Model]) -> Iterator[str]:
        table = model._meta.db_table
        yield f"ALTER TABLE {table} DROP CONSTRAINT {_name_reference(table, self._find_reference(model))}"

    def _find_reference(self, model: type[Model]) -> AccountForeignKey:
        return next(field for field in _list_references(model) if field.name == self.field_name)


class IsolateDirectory(_TableOperation):
    """Add a forced policy to a directory table: workspaces, accounts, keys."""

    def __init__(self, model_name: str, condition: str) -> None:
        super().__init__(model_name)
        self.condition = condition

    def forwards(self, model: type[Model]) -> Iterator[str]:
        yield from _force_policy(model._meta.db_table, "directory_isolation", self.condition)

    def backwards(self, model: type[Model]) -> Iterator[str]:
        yield from _drop_policy(model._meta.db_table, "directory_isolation")


class ResolverFunction(_SqlOperation):
    """Create a narrow SECURITY DEFINER function that may look across accounts and returns ids.

    It belongs to `commerce_resolver`, which gets a policy and a column grant for each
    `(table, command, columns)` of `access`, and nothing else of those tables.
    """

    def __init__(self, signature: str, definition: str, *, access: list[tuple[str, str, str]]) -> None:
        self.signature = signature
        self.definition = definition
        self.access = access

    def describe(self) -> str:
        return f"Resolver function {self.signature}"

    def _name_policy(self, command: str) -> str:
        return f"{self.signature.partition('(')[0]}_{command.lower()}"

    def list_forwards(self, app_label: str, state: ProjectState) -> Iterator[str]:
        for table, command, columns in self.access:
            yield f"GRANT {command}{columns and f' ({columns})'} ON {table} TO {RESOLVER_ROLE}"
            check = " WITH CHECK (true)" if command == "UPDATE" else ""
            yield (
                f"CREATE POLICY {self._name_policy(command)} ON {table} FOR {command} TO {RESOLVER_ROLE} "
                f"USING (true){check}"
            )
        yield self.definition
        # PostgreSQL's manual, "Writing SECURITY DEFINER Functions Safely": without a path of its own, the function
        # would look for tables and operators in the caller's schemas, with its own rights. And anybody may call a new
        # function.
        yield f"ALTER FUNCTION {self.signature} SECURITY DEFINER SET search_path = public, pg_temp"
        yield f"REVOKE ALL ON FUNCTION {self.signature} FROM PUBLIC"
        yield f"GRANT EXECUTE ON FUNCTION {self.signature} TO {APP_ROLE}"
        yield f"ALTER FUNCTION {self.signature} OWNER TO {RESOLVER_ROLE}"

    def list_backwards(self, app_label: str, state: ProjectState) -> Iterator[str]:
        yield f"DROP FUNCTION {self.signature}"
        # The grants stay, as another function may still need them. They go with the table.
        for table, command, _ in self.access:
            yield f"DROP POLICY {self._name_policy(command)} ON {table}"


def _list_references(model: type[Model]) -> list[AccountForeignKey]:
    return [field for field in model._meta.local_fields if isinstance(field, AccountForeignKey)]


def _name_reference(table: str, field: AccountForeignKey) -> str:
    return f"{table}_{field.column}_fk"


def _add_reference(table: str, field: AccountForeignKey) -> str:
    target = field.remote_field.model._meta.db_table
    return (
        f"ALTER TABLE {table} ADD CONSTRAINT {_name_reference(table, field)} "
        f"FOREIGN KEY (account_id, {field.column}) REFERENCES {target} (account_id, id)"
    )


def _force_policy(table: str, policy: str, condition: str) -> Iterator[str]:
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
    # Without FORCE, the policy wouldn't apply to the table's owner.
    yield f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"
    yield f"CREATE POLICY {policy} ON {table} USING ({condition}) WITH CHECK ({condition})"


def _drop_policy(table: str, policy: str) -> Iterator[str]:
    yield f"DROP POLICY {policy} ON {table}"
    yield f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY"
    yield f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY"
