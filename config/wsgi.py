import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

_django = get_wsgi_application()

from commerce.rest.chunked import WithContentLength  # noqa: E402  the framework has to be set up first

application = WithContentLength(_django)
