from django.apps import AppConfig


class EmailsConfig(AppConfig):
    name = "emails"
    label = "emails"
    verbose_name = "Emails"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import checks, handlers, redaction, staff, timeline  # noqa: F401  they register what they do once the models are loaded
        from .sender_domains import handlers as domain_handlers  # noqa: F401  as above
        from .sender_domains import ownership  # noqa: F401  as above
