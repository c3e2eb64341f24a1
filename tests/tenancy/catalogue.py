"""Read the database catalogue and find what would let one account's rows reach another."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import models

from commerce.tenancy.fields import AccountForeignKey
from commerce.tenancy.models import AccountOwnedPart
from commerce.tenancy.roles import APP_ROLE, OWNER_ROLE, RESOLVER_ROLE
from tests.rows import account_owned_models
from tests.tenancy.expectations import (
    APPEND_ONLY_TABLES,
    DIRECTORY_POLICIES,
    GENERATED_REFERENCES,
    GLOBAL_TABLES,
    PLATFORM_WIDE_KEYS,
    RESOLVER_COLUMNS,
    RESOLVER_DELETES,
)

ACCOUNT_POLICY = "(account_id = current_account_id())"

_RELATIONS = """
    SELECT c.relname, c.relkind::text, c.relrowsecurity, c.relforcerowsecurity, c.relowner::regrole::text
      FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind NOT IN ('i', 'I', 'S', 't', 'c')
"""
_POLICIES = """
    SELECT polname, polcmd::text, polpermissive, ARRAY(SELECT r::regrole::text FROM unnest(polroles) r),
           pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)
      FROM pg_policy WHERE polrelid = %s::regclass
"""
_KEYS = """
    SELECT c.conname, c.contype::text, c.confrelid::regclass::text,
           ARRAY(SELECT attname::text FROM unnest(c.conkey) WITH ORDINALITY k(n, i)
                   JOIN pg_attribute ON attrelid = c.conrelid AND attnum = k.n ORDER BY k.i),
           ARRAY(SELECT attname::text FROM unnest(c.confkey) WITH ORDINALITY k(n, i)
                   JOIN pg_attribute ON attrelid = c.confrelid AND attnum = k.n ORDER BY k.i),
           c.convalidated AND c.conenforced
      FROM pg_constraint c WHERE c.conrelid = %s::regclass AND c.contype IN ('p', 'f')
"""
_UNIQUE_INDEXES = """
    SELECT i.indexrelid::regclass::text, a.attname::text FROM pg_index i
      LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
     WHERE i.indrelid = %s::regclass AND i.indisunique
"""
_TABLE_GRANTS = """
    SELECT COALESCE(NULLIF(g.grantee, 0)::regrole::text, 'PUBLIC'), g.privilege_type
      FROM pg_class c, aclexplode(c.relacl) g WHERE c.oid = %s::regclass
"""
_COLUMN_GRANTS = """
    SELECT COALESCE(NULLIF(g.grantee, 0)::regrole::text, 'PUBLIC'), g.privilege_type, a.attname::text
      FROM pg_attribute a, aclexplode(a.attacl) g WHERE a.attrelid = %s::regclass
"""
_REFUSING_TRIGGERS = """
    SELECT count(*) FROM pg_trigger t
     WHERE t.tgrelid = %s::regclass AND t.tgfoid = 'refuse_change()'::regprocedure AND t.tgenabled = 'O'
       AND t.tgtype = 27
"""  # 27: for each row, before, on update or delete


@dataclass(frozen=True)
class Relation:
    name: str
    kind: str
    has_rls: bool
    forces_rls: bool
    owner: str


@dataclass(frozen=True)
class Policy:
    name: str
    command: str
    is_permissive: bool
    roles: list[str]
    using: str | None
    check: str | None


@dataclass(frozen=True)
class Key:
    name: str
    kind: str
    target: str
    columns: list[str]
    target_columns: list[str]
    is_enforced: bool


def violations(cursor: Any) -> list[str]:
    """List every way in which the visible tables are not isolated, as `table: what is wrong`."""
    relations = {row[0]: Relation(*row) for row in _all(cursor, _RELATIONS)}
    owned = {model._meta.db_table: model for model in account_owned_models()}
    known = owned.keys() | DIRECTORY_POLICIES.keys() | GLOBAL_TABLES.keys()
    found = [
        f"{name}: neither account-owned nor a directory nor listed as global"
        for name in relations.keys() - known
    ]
    found += [f"{name}: does not exist" for name in known - relations.keys()]
    found += [
        f"{table}: {problem}"
        for table, model in owned.items()
        if table in relations
        for problem in _account_owned_problems(cursor, relations[table], model)
    ]
    found += [
        f"{table}: {problem}"
        for table, expression in DIRECTORY_POLICIES.items()
        if table in relations
        for problem in _directory_problems(cursor, relations[table], expression)
    ]
    found += [
        f"{name}: {problem}"
        for name, relation in relations.items()
        for problem in _common_problems(cursor, relation)
    ]
    return sorted(found)


def unlisted_models() -> list[str]:
    """List installed models whose table is in none of the three groups."""
    listed = DIRECTORY_POLICIES.keys() | GLOBAL_TABLES.keys()
    owned = {model._meta.db_table for model in account_owned_models()}
    tables = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    return sorted(tables - owned - listed)


def _account_owned_problems(cursor: Any, relation: Relation, model: type[models.Model]) -> Iterator[str]:
    table = relation.name
    yield from _policy_problems(cursor, relation, "account_isolation", ACCOUNT_POLICY)
    yield from _key_problems(cursor, table, model)
    yield from _unique_problems(cursor, table)
    expected = (
        {"SELECT", "INSERT"} if table in APPEND_ONLY_TABLES else {"SELECT", "INSERT", "UPDATE", "DELETE"}
    )
    yield from _grant_problems(cursor, table, expected)
    has_trigger = _all(cursor, _REFUSING_TRIGGERS, table)[0][0] == 1
    if has_trigger != (table in APPEND_ONLY_TABLES):
        yield "a trigger refuses changes" if has_trigger else "no trigger refuses changes"


def _directory_problems(cursor: Any, relation: Relation, expression: str) -> Iterator[str]:
    yield from _policy_problems(cursor, relation, "directory_isolation", expression)
    yield from _grant_problems(cursor, relation.name, {"SELECT", "INSERT", "UPDATE", "DELETE"})


def _common_problems(cursor: Any, relation: Relation) -> Iterator[str]:
    if relation.kind != "r":
        yield f"is no plain table but of kind {relation.kind}"
    if relation.owner != OWNER_ROLE:
        yield f"belongs to {relation.owner}"
    granted: dict[tuple[str, str], set[str]] = {}
    for grantee, privilege, column in _all(cursor, _COLUMN_GRANTS, relation.name):
        if grantee != RESOLVER_ROLE:
            yield f"grants {privilege} of {column} to {grantee}"
        granted.setdefault((relation.name, privilege), set()).add(column)
    expected = {key: columns for key, columns in RESOLVER_COLUMNS.items() if key[0] == relation.name}
    if granted != expected:
        yield f"lets the resolver have {granted} instead of {expected}"


def _policy_problems(cursor: Any, relation: Relation, name: str, expression: str) -> Iterator[str]:
    if not relation.has_rls:
        yield "row-level security is not enabled"
    if not relation.forces_rls:
        yield "row-level security is not forced"
    policies = [Policy(*row) for row in _all(cursor, _POLICIES, relation.name)]
    everyones = [policy for policy in policies if policy.roles != [RESOLVER_ROLE]]
    # The role with OID 0 is PUBLIC, written as a hyphen.
    if everyones != [Policy(name, "*", True, ["-"], expression, expression)]:
        yield f"its policies are {everyones}"


def _key_problems(cursor: Any, table: str, model: type[models.Model]) -> Iterator[str]:
    keys = [Key(*row) for row in _all(cursor, _KEYS, table)]
    if [key.columns for key in keys if key.kind == "p"] != [["account_id", "id"]]:
        yield "its primary key is not (account_id, id)"
    references = [key for key in keys if key.kind == "f"]
    composite = {(key.columns[-1], key.target) for key in references if _is_composite(key)}
    expected = {
        (field.column, field.related_model._meta.db_table)
        for field in model._meta.local_fields
        if isinstance(field, AccountForeignKey)
    } | GENERATED_REFERENCES.get(table, set())
    if composite != expected:
        yield f"its composite references differ from its model's by {sorted(composite ^ expected)}"
    others = [(key.columns, key.target) for key in references if not _is_composite(key)]
    # A part of the account's data proves its account by one of the composite references.
    own = [] if issubclass(model, AccountOwnedPart) else [(["account_id"], "accounts")]
    if others != own:
        yield f"its references without another row of the account are {others}, not {own}"


def _is_composite(key: Key) -> bool:
    starts_with_account = len(key.columns) == 2 and key.columns[0] == "account_id"
    return starts_with_account and key.target_columns == ["account_id", "id"] and key.is_enforced


def _unique_problems(cursor: Any, table: str) -> Iterator[str]:
    for name, first_column in _all(cursor, _UNIQUE_INDEXES, table):
        if first_column != "account_id" and name not in PLATFORM_WIDE_KEYS:
            yield f"the unique index {name} does not begin with the account"


def _grant_problems(cursor: Any, table: str, expected: set[str]) -> Iterator[str]:
    grants: dict[str, set[str]] = {}
    for grantee, privilege in _all(cursor, _TABLE_GRANTS, table):
        grants.setdefault(grantee, set()).add(privilege)
    grants.pop(OWNER_ROLE, None)
    deletes = {RESOLVER_ROLE: {"DELETE"}} if table in RESOLVER_DELETES else {}
    if grants != {APP_ROLE: expected} | deletes:
        yield f"its grants are {grants}"


def _all(cursor: Any, sql: str, table: str | None = None) -> list[Any]:
    cursor.execute(sql, None if table is None else [table])
    return cursor.fetchall()
