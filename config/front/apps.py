from django.apps import AppConfig


class FrontConfig(AppConfig):
    name = "config.front"
    label = "front"

    def ready(self) -> None:
        from . import checks  # noqa: F401  registers them
