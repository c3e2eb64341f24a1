from collections.abc import Iterable

from django.apps import AppConfig

from commerce.configuration.registry import Setting, register_settings


class PaymentsConfig(AppConfig):
    name = "commerce.payments"
    label = "payments"
    verbose_name = "Payments"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        register_settings(_list_settings)


def _list_settings() -> Iterable[Setting]:
    # Connectors may import models, so they are loaded once all apps are.
    from .connectors import load_connectors

    return [setting for connector in load_connectors().values() for setting in connector.settings]
