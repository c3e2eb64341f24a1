from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class BackofficeConfig(AppConfig):
    name = "commerce.backoffice"
    label = "backoffice"
    verbose_name = gettext_lazy("Back office")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from .names import translate_names

        translate_names()
