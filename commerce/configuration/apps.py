from django.apps import AppConfig


class ConfigurationConfig(AppConfig):
    name = "commerce.configuration"
    label = "configuration"
    verbose_name = "Configuration"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from commerce.backoffice.history import register_titles

        from . import checks  # noqa: F401  registers the check
        from .forms import find_setting_title

        register_titles(find_setting_title)
