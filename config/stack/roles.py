"""The database roles, made by a superuser; every statement may be run again.

The names are those that migrations grant to and that `commerce.tenancy.roles` checks.
"""

import psycopg
from psycopg import sql

OWNER, APP, RESOLVER = "commerce_owner", "commerce_app", "commerce_resolver"

_ROLE = """
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{0}') THEN CREATE ROLE {0}; END IF;
END $$"""

_UNPRIVILEGED = "NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION"

_ROLES = [
    *[_ROLE.format(role) for role in (OWNER, APP, RESOLVER)],
    f"ALTER ROLE {OWNER} LOGIN {_UNPRIVILEGED} PASSWORD {{owner_password}}",
    f"ALTER ROLE {APP} LOGIN {_UNPRIVILEGED} PASSWORD {{app_password}}",
    f"ALTER ROLE {RESOLVER} NOLOGIN {_UNPRIVILEGED}",
    # So that migrations may hand functions over to it.
    f"GRANT {RESOLVER} TO {OWNER}",
]

_DATABASE = [
    f"CREATE DATABASE {{database}} OWNER {OWNER} TEMPLATE template0 ENCODING 'UTF8'",
]

_SCHEMA = [
    "REVOKE ALL ON DATABASE {database} FROM PUBLIC",
    f"GRANT CONNECT ON DATABASE {{database}} TO {OWNER}, {APP}",
    "REVOKE ALL ON SCHEMA public FROM PUBLIC",
    f"GRANT ALL ON SCHEMA public TO {OWNER}",
    f"GRANT USAGE ON SCHEMA public TO {APP}",
    # CREATE is what PostgreSQL asks of a role that is to own a function there.
    f"GRANT USAGE, CREATE ON SCHEMA public TO {RESOLVER}",
    f"ALTER DEFAULT PRIVILEGES FOR ROLE {OWNER} IN SCHEMA public "
    f"GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {APP}",
    f"ALTER DEFAULT PRIVILEGES FOR ROLE {OWNER} IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO {APP}",
    # A right that everybody has by default is taken away for all schemas or not at all.
    f"ALTER DEFAULT PRIVILEGES FOR ROLE {OWNER} REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC",
]


def create_roles(superuser_url: str, *, owner_password: str, app_password: str) -> None:
    """Makes the roles, or gives them these passwords and takes other rights from them."""
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        for statement in _ROLES:
            connection.execute(_composed(statement, owner_password=owner_password, app_password=app_password))


def create_database(superuser_url: str, *, name: str) -> None:
    """Makes the database if it isn't there, owned by the owner and usable by the serving role."""
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        if not connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).fetchone():
            for statement in _DATABASE:
                connection.execute(_composed(statement, database=name))
    with psycopg.connect(superuser_url, dbname=name, autocommit=True) as connection:
        for statement in _SCHEMA:
            connection.execute(_composed(statement, database=name))


def _composed(statement: str, *, database: str = "", **literals: str) -> sql.Composed:
    values = {name: sql.Literal(value) for name, value in literals.items()}
    return sql.SQL(statement).format(database=sql.Identifier(database), **values)


def script(*, database: str = "commerce") -> str:
    """The same as a script of psql, for the administrator of another server."""
    names = {"database": database, "owner_password": ":'owner_password'", "app_password": ":'app_password'"}
    statements = [*_ROLES, *_DATABASE, f"\\connect {database}", *_SCHEMA]
    lines = [statement.strip().format(**names) for statement in statements]
    return "\n".join(line if line.startswith("\\") else f"{line};" for line in lines) + "\n"
