"""Arguments and environment of each program of the stack."""

import os

import pytest

from config.stack.data import DataDirectory
from config.stack.programs import Programs

SECRETS = {
    "SECRET_KEY": "secret-of-the-sessions",
    "DATABASE_URL": "postgres://commerce_app:app-password@127.0.0.1:5432/commerce",
    "DATABASE_OWNER_URL": "postgres://commerce_owner:owner-password@127.0.0.1:5432/commerce",
    "REDIS_URL": "redis://:redis-password@127.0.0.1:6379/0",
    "RENDERER_URL": "http://127.0.0.1:8025",
}


@pytest.fixture
def programs(data: DataDirectory) -> Programs:
    return Programs(data=data, environment={"PATH": os.environ["PATH"], **SECRETS}, web_port=8000)


def test_only_the_steps_before_serving_know_the_owner_of_the_schema(programs: Programs):
    services = [*programs.web(), programs.worker(), programs.beat(), programs.renderer()]

    assert programs.migrate().environment["DATABASE_OWNER_URL"] == SECRETS["DATABASE_OWNER_URL"]
    assert [service.name for service in services if "owner-password" in str(service.environment)] == []


def test_web_and_worker_serve_as_the_unprivileged_role(programs: Programs):
    for service in [*programs.web(), programs.worker(), programs.beat()]:
        assert service.environment["DATABASE_OWNER_URL"] == SECRETS["DATABASE_URL"], service.name


def test_renderer_is_told_no_address_and_no_secret(programs: Programs):
    environment = programs.renderer().environment

    assert {name: environment[name] for name in environment if not name.startswith("PYTHON")} == {
        "PATH": os.environ["PATH"]
    }


def test_programs_can_be_forked_except_for_the_renderer(programs: Programs):
    server = programs.fork_server
    forked = [*programs.web(), programs.worker(), programs.beat(), programs.seed(), programs.check_migrated()]

    assert [process.name for process in forked if not server.fits(process)] == []
    assert not server.fits(programs.renderer())
    assert not server.fits(programs.migrate())
