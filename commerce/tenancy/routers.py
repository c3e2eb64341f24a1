from typing import Any


class OwnerMigrates:
    """Tables are made over the `owner` connection only; the serving role owns nothing."""

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == "owner"
