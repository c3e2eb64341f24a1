"""How messages leave the house."""

from functools import cache

from django.conf import settings

from .base import MessageRefused, Provider, ProviderUnavailable
from .local import LocalProvider

__all__ = ["MessageRefused", "Provider", "ProviderUnavailable", "current_provider"]


@cache
def current_provider() -> Provider:
    return LocalProvider(settings.MAIL_DIR)
