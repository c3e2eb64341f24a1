from typing import Any

from django.core import checks
from django.core.exceptions import ImproperlyConfigured

from .registry import SETTINGS, installation_value


@checks.register("configuration")
def check_environment(app_configs: Any = None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Every environment variable of the registry has a value that its setting takes."""
    messages: list[checks.CheckMessage] = []
    for name in SETTINGS:
        try:
            installation_value(name)
        except ImproperlyConfigured as error:
            messages.append(checks.Error(str(error), id="configuration.E001"))
    return messages
