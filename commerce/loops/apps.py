from django.apps import AppConfig


class LoopsConfig(AppConfig):
    name = "commerce.loops"
    label = "loops"
    verbose_name = "Loops"
    default_auto_field = "django.db.models.BigAutoField"
