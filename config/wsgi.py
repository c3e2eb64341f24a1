"""Django itself, for its development server; config/rsgi.py is what serves."""

import os

from config.front.handler import django_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = django_application()
