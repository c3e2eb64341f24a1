"""The database roles and what they may do, made by a superuser; every statement may be run again.

The names are those that migrations grant to and that `commerce.tenancy.roles` checks.
"""

import psycopg
from psycopg import sql

OWNER, APP, RESOLVER = "commerce_owner", "commerce_app", "commerce_resolver"
DATABASE = "commerce"

_CREATE_ROLE = """DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{0}') THEN CREATE ROLE {0}; END IF;
END $$"""

_UNPRIVILEGED = "NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION"

# For requests. Commands and workers, which may take longer, ask for others when they connect.
_TIMEOUTS = {
    "statement_timeout": "30s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "60s",
}
_TRANSACTION_TIMEOUT = f"""DO $$ BEGIN
    IF current_setting('server_version_num')::int >= 170000 THEN
        ALTER ROLE {APP} SET transaction_timeout = '60s';
    END IF;
END $$"""

_ROLES = (
    *(_CREATE_ROLE.format(role) for role in (OWNER, APP, RESOLVER)),
    f"ALTER ROLE {OWNER} LOGIN {_UNPRIVILEGED} PASSWORD {{owner_password}}",
    f"ALTER ROLE {APP} LOGIN {_UNPRIVILEGED} PASSWORD {{app_password}}",
    f"ALTER ROLE {RESOLVER} NOLOGIN {_UNPRIVILEGED}",
    *(f"ALTER ROLE {APP} SET {name} = '{value}'" for name, value in _TIMEOUTS.items()),
    _TRANSACTION_TIMEOUT,
    # So that migrations may hand functions over to it, without seeing what its policies let it see.
    f"GRANT {RESOLVER} TO {OWNER} WITH INHERIT FALSE, SET TRUE",
)

_CREATE_DATABASE = f"CREATE DATABASE {{database}} OWNER {OWNER} TEMPLATE template0 ENCODING 'UTF8'"

_NEW_OBJECTS = f"ALTER DEFAULT PRIVILEGES FOR ROLE {OWNER}"

_RIGHTS = (
    "REVOKE ALL ON DATABASE {database} FROM PUBLIC",
    f"GRANT CONNECT ON DATABASE {{database}} TO {OWNER}, {APP}",
    # Imports stage their rows in tables that no other session sees.
    f"GRANT TEMPORARY ON DATABASE {{database}} TO {APP}",
    "REVOKE ALL ON SCHEMA public FROM PUBLIC",
    f"GRANT ALL ON SCHEMA public TO {OWNER}",
    f"GRANT USAGE ON SCHEMA public TO {APP}",
    # PostgreSQL asks for CREATE of a role that is to own a function there.
    f"GRANT USAGE, CREATE ON SCHEMA public TO {RESOLVER}",
    f"{_NEW_OBJECTS} IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {APP}",
    f"{_NEW_OBJECTS} IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO {APP}",
    # What everybody may do by default can't be taken away for one schema alone.
    f"{_NEW_OBJECTS} REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC",
)


def main() -> int:
    print(as_script())
    return 0


def create_roles(superuser_url: str, *, owner_password: str, app_password: str) -> None:
    """Make the roles, or give those that are there these passwords and no more rights than these."""
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        for statement in _ROLES:
            connection.execute(_composed(statement, owner_password=owner_password, app_password=app_password))


def create_database(superuser_url: str, *, name: str = DATABASE) -> None:
    """Make the database if it isn't there, the owner's to change and the serving role's to use."""
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
            connection.execute(_composed(_CREATE_DATABASE, database=name))
    with psycopg.connect(superuser_url, dbname=name, autocommit=True) as connection:
        for statement in _RIGHTS:
            connection.execute(_composed(statement, database=name))


def as_script(*, database: str = DATABASE) -> str:
    """The same for `psql -v owner_password=... -v app_password=...`, run by the administrator of a server."""
    names = {"database": database, "owner_password": ":'owner_password'", "app_password": ":'app_password'"}
    before = [f"{statement.format(**names)};" for statement in (*_ROLES, _CREATE_DATABASE)]
    after = [f"{statement.format(**names)};" for statement in _RIGHTS]
    return "\n".join([*before, f"\\connect {database}", *after])


def _composed(statement: str, *, database: str = "", **literals: str) -> sql.Composed:
    values = {name: sql.Literal(value) for name, value in literals.items()}
    return sql.SQL(statement).format(database=sql.Identifier(database or DATABASE), **values)
