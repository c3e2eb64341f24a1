from django.apps import AppConfig


class EmailsConfig(AppConfig):
    name = "emails"
    label = "emails"
    verbose_name = "Emails"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import handlers  # noqa: F401  registers the task once the models are loaded
