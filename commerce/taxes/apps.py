from django.apps import AppConfig


class TaxesConfig(AppConfig):
    name = "commerce.taxes"
    label = "taxes"
    verbose_name = "Taxes"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import errors  # noqa: F401  nothing raises them but the constraints that they name
