from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "commerce.webhooks"
    label = "webhooks"
    verbose_name = "Webhooks"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import handlers  # noqa: F401  it registers what it does once the models are loaded
