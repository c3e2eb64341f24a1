from django.apps import AppConfig


class TenancyConfig(AppConfig):
    name = "commerce.tenancy"
    label = "tenancy"
    verbose_name = "Tenancy"

    def ready(self) -> None:
        from . import checks  # noqa: F401  registers the checks once the models are loaded
