from django.apps import AppConfig


class RestConfig(AppConfig):
    name = "commerce.rest"
    label = "rest"
    verbose_name = "REST ground"
    default_auto_field = "django.db.models.BigAutoField"
