from django.apps import AppConfig


class CheckoutsConfig(AppConfig):
    name = "checkouts"
    label = "checkouts"
    verbose_name = "Checkouts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import timeline  # noqa: F401  registers what it tells once the models are loaded
