from django.apps import AppConfig


class InventoryConfig(AppConfig):
    name = "commerce.inventory"
    label = "inventory"
    verbose_name = "Inventory"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import levels  # noqa: F401  registers how stock follows a variant
