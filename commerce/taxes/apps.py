from django.apps import AppConfig


class TaxesConfig(AppConfig):
    name = "commerce.taxes"
    label = "taxes"
    verbose_name = "Taxes"
    default_auto_field = "django.db.models.BigAutoField"
