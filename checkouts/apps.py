from django.apps import AppConfig


class CheckoutsConfig(AppConfig):
    name = "checkouts"
    label = "checkouts"
    verbose_name = "Checkouts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Imported for their registrations, which need the models to be loaded.
        from . import checks, debts, handlers, timeline  # noqa: F401
        from .operations import archiving, codes, merging  # noqa: F401
