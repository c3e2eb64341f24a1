"""The database roles, and the privileges that the serving role must not have."""

from django.db.backends.base.base import BaseDatabaseWrapper

APP_ROLE = "commerce_app"
OWNER_ROLE = "commerce_owner"
RESOLVER_ROLE = "commerce_resolver"


class OwnerMigrates:
    """The database router: migrations run on the `owner` connection only, since the serving role owns nothing."""

    def allow_migrate(self, db: str, app_label: str, **hints: object) -> bool:
        return db == "owner"


# A member of the role that owns a table may act as it, and an owner can switch the policies off.
_BYPASSES = """
    SELECT r.rolsuper, r.rolbypassrls,
           EXISTS (SELECT FROM pg_class c
                    WHERE c.relnamespace = 'public'::regnamespace AND pg_has_role(r.oid, c.relowner, 'MEMBER'))
      FROM pg_roles r WHERE r.rolname = current_user
"""


def bypass_reasons(connection: BaseDatabaseWrapper) -> list[str]:
    """The reasons why this connection's role could see other accounts' rows; empty if it can't."""
    with connection.cursor() as cursor:
        cursor.execute(_BYPASSES)
        is_superuser, bypasses_rls, owns_tables = cursor.fetchone()
    reasons = {
        "it is a superuser": is_superuser,
        "it has BYPASSRLS": bypasses_rls,
        "it owns tables, or is a member of the role that does": owns_tables,
    }
    return [reason for reason, holds in reasons.items() if holds]
