from django.apps import AppConfig


class ConfigurationConfig(AppConfig):
    name = "commerce.configuration"
    label = "configuration"
    verbose_name = "Configuration"
    default_auto_field = "django.db.models.BigAutoField"
