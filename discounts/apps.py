from django.apps import AppConfig


class DiscountsConfig(AppConfig):
    name = "discounts"
    label = "discounts"
    verbose_name = "Discounts and vouchers"
    default_auto_field = "django.db.models.BigAutoField"
