"""Creates the database roles and grants their rights, as a superuser. Every statement may be run again.

Migrations grant rights to these roles by name, and `commerce.tenancy.roles` checks them.
"""

import psycopg
from psycopg import sql

OWNER, APP, RESOLVER = "commerce_owner", "commerce_app", "commerce_resolver"
DATABASE = "commerce"

_CREATE_ROLE = """DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{0}') THEN CREATE ROLE {0}; END IF;
END $$"""

_UNPRIVILEGED = "NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION"

# For requests. Commands and workers may take longer, and set their own limits when they connect.
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
    # Lets migrations make the resolver the owner of functions, without inheriting what its policies let it see.
    f"GRANT {RESOLVER} TO {OWNER} WITH INHERIT FALSE, SET TRUE",
)

_CREATE_DATABASE = f"CREATE DATABASE {{database}} OWNER {OWNER} TEMPLATE template0 ENCODING 'UTF8'"

_NEW_OBJECTS = f"ALTER DEFAULT PRIVILEGES FOR ROLE {OWNER}"

_RIGHTS = (
    "REVOKE ALL ON DATABASE {database} FROM PUBLIC",
    f"GRANT CONNECT ON DATABASE {{database}} TO {OWNER}, {APP}",
    # Imports stage their rows in temporary tables.
    f"GRANT TEMPORARY ON DATABASE {{database}} TO {APP}",
    "REVOKE ALL ON SCHEMA public FROM PUBLIC",
    f"GRANT ALL ON SCHEMA public TO {OWNER}",
    f"GRANT USAGE ON SCHEMA public TO {APP}",
    # PostgreSQL requires CREATE of a role that becomes the owner of a function.
    f"GRANT USAGE, CREATE ON SCHEMA public TO {RESOLVER}",
    f"{_NEW_OBJECTS} IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {APP}",
    f"{_NEW_OBJECTS} IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO {APP}",
    # PUBLIC's default privileges can be revoked for the whole database only, not for one schema.
    f"{_NEW_OBJECTS} REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC",
)


def main() -> int:
    print(as_script())
    return 0


def create_roles(superuser_url: str, *, owner_password: str, app_password: str) -> None:
    """Create the roles, or reset the passwords and attributes of existing ones."""
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        for statement in _ROLES:
            connection.execute(_compose(statement, owner_password=owner_password, app_password=app_password))


def create_database(superuser_url: str, *, name: str = DATABASE) -> None:
    """Create the database if it doesn't exist. The owner may change its schema, the serving role its rows."""
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
            connection.execute(_compose(_CREATE_DATABASE, database=name))
    with psycopg.connect(superuser_url, dbname=name, autocommit=True) as connection:
        for statement in _RIGHTS:
            connection.execute(_compose(statement, database=name))


def as_script(*, database: str = DATABASE) -> str:
    """Render the statements for a server's administrator: `psql -v owner_password=... -v app_password=...`."""
    names = {"database": database, "owner_password": ":'owner_password'", "app_password": ":'app_password'"}
    before = [f"{statement.format(**names)};" for statement in (*_ROLES, _CREATE_DATABASE)]
    after = [f"{statement.format(**names)};" for statement in _RIGHTS]
    return "\n".join([*before, f"\\connect {database}", *after])


def _compose(statement: str, *, database: str = "", **literals: str) -> sql.Composed:
    values = {name: sql.Literal(value) for name, value in literals.items()}
    return sql.SQL(statement).format(database=sql.Identifier(database or DATABASE), **values)
