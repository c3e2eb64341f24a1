from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class RestConfig(AppConfig):
    name = "commerce.rest"
    label = "rest"
    verbose_name = "REST ground"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Loaded because they map constraint names, even those that no code raises.
        autodiscover_modules("errors")
