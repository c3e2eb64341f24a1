"""All tables are isolated, and the checker notices if one isn't."""

import os
from collections.abc import Iterator

import psycopg
import pytest

from tests.tenancy.catalogue import unlisted_models, violations
from tests.tenancy.expectations import APPEND_ONLY_TABLES, RESOLVER_FUNCTIONS

pytestmark = pytest.mark.usefixtures("django_db_setup")

_FUNCTIONS = """
    SELECT p.oid::regprocedure::text, p.prosecdef, p.proowner::regrole::text, p.proconfig,
           ARRAY(SELECT COALESCE(NULLIF(g.grantee, 0)::regrole::text, 'PUBLIC')
                   FROM aclexplode(p.proacl) g WHERE g.privilege_type = 'EXECUTE' ORDER BY 1)
      FROM pg_proc p
     WHERE p.pronamespace = 'public'::regnamespace AND (p.prosecdef OR p.proowner = 'commerce_resolver'::regrole)
"""


@pytest.fixture
def owner() -> Iterator[psycopg.Connection]:
    """The owner's connection, in a transaction that is rolled back."""
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"]) as connection:
        yield connection
        connection.rollback()


def test_catalogue_every_table_is_isolated(owner):
    assert violations(owner.cursor()) == []


def test_catalogue_every_model_is_account_owned_or_listed():
    assert unlisted_models() == []


@pytest.mark.parametrize(
    ("statement", "violation"),
    [
        ("CREATE TABLE stray (id bigint)", "stray: neither account-owned nor"),
        ("CREATE VIEW stray AS SELECT * FROM carts", "stray: neither account-owned nor"),
        ("ALTER TABLE carts DISABLE ROW LEVEL SECURITY", "carts: row-level security is not enabled"),
        ("ALTER TABLE carts NO FORCE ROW LEVEL SECURITY", "carts: row-level security is not forced"),
        ("DROP POLICY account_isolation ON carts", "carts: its policies are []"),
        ("CREATE POLICY wide ON carts USING (true)", "carts: its policies are [Policy(name='"),
        ("ALTER POLICY account_isolation ON carts USING (true)", "carts: its policies are [Policy(name='"),
        ("ALTER POLICY account_isolation ON carts WITH CHECK (true)", "carts: its policies are [Policy(name='"),
        ("ALTER POLICY directory_isolation ON api_keys USING (true)", "api_keys: its policies are [Policy(name='"),
        (
            "ALTER TABLE events DROP CONSTRAINT events_pkey, ADD PRIMARY KEY (id)",
            "events: its primary key is not (account_id, id)",
        ),
        (
            "ALTER TABLE carts DROP CONSTRAINT carts_market_id_fk",
            "carts: its composite references differ from its model's by [('market_id', 'markets')]",
        ),
        (
            """
            CREATE UNIQUE INDEX by_id ON markets (id);
            ALTER TABLE carts ADD FOREIGN KEY (market_id) REFERENCES markets (id)
            """,
            "carts: its references without another row of the account are ",
        ),
        (
            """
            ALTER TABLE carts DROP CONSTRAINT carts_market_id_fk, ADD CONSTRAINT carts_market_id_fk
            FOREIGN KEY (account_id, market_id) REFERENCES markets (account_id, id) NOT VALID
            """,
            "carts: its composite references differ from its model's by [('market_id', 'markets')]",
        ),
        ("CREATE UNIQUE INDEX leak ON customers (email)", "customers: the unique index leak does not begin with"),
        ("GRANT TRUNCATE ON carts TO commerce_app", "carts: its grants are "),
        ("GRANT SELECT ON carts TO PUBLIC", "carts: its grants are "),
        ("GRANT SELECT ON carts TO commerce_resolver", "carts: its grants are "),
        ("REVOKE INSERT ON carts FROM commerce_app", "carts: its grants are "),
        ("GRANT UPDATE ON events TO commerce_app", "events: its grants are "),
        ("GRANT UPDATE (type) ON events TO commerce_app", "events: grants UPDATE of type to commerce_app"),
        ("GRANT SELECT (email) ON customers TO commerce_resolver", "customers: lets the resolver have "),
        ("DROP TRIGGER events_append_only ON events", "events: no trigger refuses changes"),
        ("ALTER TABLE events DISABLE TRIGGER events_append_only", "events: no trigger refuses changes"),
        ("ALTER TABLE carts OWNER TO commerce_resolver", "carts: belongs to commerce_resolver"),
    ],
)  # fmt: skip
def test_catalogue_missing_isolation_is_found(owner, statement, violation):
    cursor = owner.cursor()
    cursor.execute(statement)

    found = violations(cursor)

    assert any(line.startswith(violation) for line in found), found


def test_append_only_tables_are_the_listed_ones(owner):
    with_trigger = owner.execute(
        "SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname LIKE '%_append_only'"
    )

    assert {row[0] for row in with_trigger} == APPEND_ONLY_TABLES


def test_resolver_functions_are_narrow(owner):
    functions = owner.execute(_FUNCTIONS).fetchall()

    assert {name for name, *_ in functions} == {name.replace(", ", ",") for name in RESOLVER_FUNCTIONS}
    assert {tuple(map(str, rest)) for _, *rest in functions} == {
        (
            "True",
            "commerce_resolver",
            "['search_path=public, pg_temp']",
            "['commerce_app', 'commerce_resolver']",
        )
    }


def test_serving_role_may_create_nothing_and_set_no_sequence(owner):
    rights = owner.execute(
        """
        SELECT has_schema_privilege('commerce_app', 'public', 'CREATE'),
               has_database_privilege('commerce_app', current_database(), 'CREATE'),
               (SELECT count(*) FROM pg_sequence WHERE has_sequence_privilege('commerce_app', seqrelid, 'UPDATE'))
        """
    ).fetchone()

    assert rights == (False, False, 0)


@pytest.mark.parametrize(
    ("role", "attributes"),
    [
        ("commerce_app", (True, False, False, False, False, [])),
        ("commerce_owner", (True, False, False, False, False, ["commerce_resolver"])),
        ("commerce_resolver", (False, False, False, False, False, [])),
    ],
)
def test_roles_have_no_right_to_bypass_policies(owner, role, attributes):
    found = owner.execute(
        """
        SELECT rolcanlogin, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb,
               ARRAY(SELECT m.roleid::regrole::text FROM pg_auth_members m WHERE m.member = r.oid)
          FROM pg_roles r WHERE rolname = %s
        """,
        [role],
    ).fetchone()

    assert found == attributes
