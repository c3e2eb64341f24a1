"""The application that granian serves: `granian --interface rsgi config.rsgi:application`."""

import logging
import os

from config.front.handler import django_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

_django = django_application()

from django.conf import settings  # noqa: E402  Django must be set up first

from config.front.application import Front  # noqa: E402
from config.front.checks import check_places, check_proxy  # noqa: E402
from config.front.warming import warm_up  # noqa: E402

# Servers don't run Django's system checks; only manage.py does.
for _message in check_proxy() + check_places():
    logging.getLogger(__name__).warning("%s %s", _message.msg, _message.hint)

# Hosts may be patterns such as `.shop.example`, which it serves without the dot too, or `*`.
warm_up(_django, host=next(iter(settings.ALLOWED_HOSTS), "localhost").lstrip(".").replace("*", "localhost"))

application = Front(_django, threads=settings.WEB_THREADS, spare_threads=sum(settings.WEB_CALLS.values()))
