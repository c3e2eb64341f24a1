from threading import local

from django.apps import AppConfig
from django.contrib.postgres.signals import register_type_handlers
from django.db import connections
from django.db.backends.signals import connection_created


class TenancyConfig(AppConfig):
    name = "commerce.tenancy"
    label = "tenancy"
    verbose_name = "Tenancy"

    def ready(self) -> None:
        # Django keeps a thread's connections where coroutines could use them too, which none does here. A plain
        # `threading.local` takes a sixth of the time, and a request looks there some twenty times.
        connections._connections = local()  # type: ignore[attr-defined]  # noqa: SLF001

        # It would look for types of extensions that we don't use, whenever a request takes a connection from the pool.
        connection_created.disconnect(register_type_handlers)

        from . import checks  # noqa: F401  registers the checks once the models are loaded
