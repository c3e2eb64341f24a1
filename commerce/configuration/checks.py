from django.core import checks
from django.core.exceptions import ImproperlyConfigured

from .registry import installation_value, known_settings


@checks.register("configuration")
def check_environment(app_configs: object = None, **kwargs: object) -> list[checks.CheckMessage]:
    """Check that the environment variables of all settings have valid values."""
    messages: list[checks.CheckMessage] = []
    for name in known_settings():
        try:
            installation_value(name)
        except ImproperlyConfigured as error:
            messages.append(checks.Error(str(error), id="configuration.E001"))
    return messages
