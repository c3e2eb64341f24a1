from django.apps import AppConfig


class EmailsConfig(AppConfig):
    name = "emails"
    label = "emails"
    verbose_name = "Emails"
    default_auto_field = "django.db.models.BigAutoField"
