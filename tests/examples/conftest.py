"""The doubles of other services that the examples need."""

import pytest

from tests.emails.conftest import mail_dir, renderer  # noqa: F401  fixtures
from tests.nameserver import name_server


@pytest.fixture
def names(settings):
    with name_server() as server:
        settings.DNS_SERVERS = [server.address]
        yield server
