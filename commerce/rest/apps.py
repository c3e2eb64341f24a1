from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class RestConfig(AppConfig):
    name = "commerce.rest"
    label = "rest"
    verbose_name = "REST conventions"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # All of them are loaded, since they map constraints to refusals, also those that no code raises.
        autodiscover_modules("errors")
