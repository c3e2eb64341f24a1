from django.apps import AppConfig


class CheckoutsConfig(AppConfig):
    name = "checkouts"
    label = "checkouts"
    verbose_name = "Checkouts"
    default_auto_field = "django.db.models.BigAutoField"
