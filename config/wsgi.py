"""The WSGI application, for Django's development server only. Production runs config/rsgi.py."""

import os

from config.front.handler import django_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = django_application()
