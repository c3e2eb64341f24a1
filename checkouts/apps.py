from django.apps import AppConfig


class CheckoutsConfig(AppConfig):
    name = "checkouts"
    label = "checkouts"
    verbose_name = "Checkouts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import handlers, timeline  # noqa: F401  they register what they do once the models are loaded
