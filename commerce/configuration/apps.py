from django.apps import AppConfig


class ConfigurationConfig(AppConfig):
    name = "commerce.configuration"
    label = "configuration"
    verbose_name = "Configuration"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import checks  # noqa: F401  registers the check
