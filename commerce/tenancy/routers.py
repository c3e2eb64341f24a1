from typing import Any


class OwnerMigrates:
    """Migrations run on the `owner` connection only; the serving role owns nothing."""

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == "owner"
