from django.apps import AppConfig


class CartsConfig(AppConfig):
    name = "carts"
    label = "carts"
    verbose_name = "Carts"
    default_auto_field = "django.db.models.BigAutoField"
