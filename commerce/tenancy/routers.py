class OwnerMigrates:
    """Migrations run on the `owner` connection only; the serving role owns nothing."""

    def allow_migrate(self, db: str, app_label: str, **hints: object) -> bool:
        return db == "owner"
