from django.apps import AppConfig


class EmailsConfig(AppConfig):
    name = "emails"
    label = "emails"
    verbose_name = "Emails"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import handlers, redaction, timeline  # noqa: F401  they register what they do once the models are loaded
