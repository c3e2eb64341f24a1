from django.apps import AppConfig


class DiscountsConfig(AppConfig):
    name = "discounts"
    label = "discounts"
    verbose_name = "Discounts and vouchers"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import cancellation  # noqa: F401  registers what a cancellation gives back
