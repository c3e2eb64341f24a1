from django.apps import AppConfig


class ShippingConfig(AppConfig):
    name = "shipping"
    label = "shipping"
    verbose_name = "Shipping"
    default_auto_field = "django.db.models.BigAutoField"
