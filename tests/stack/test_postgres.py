import os
import signal
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from config.stack.ports import find_free_port
from config.stack.postgres import Cluster
from config.stack.privileges import find_service_user
from config.stack.waiting import until_deadline


def test_server_keeps_its_data_over_a_restart(cluster: Cluster, place: Path, started):
    first = started(cluster.service(log=place / "log"))
    first.wait_until_ready(seconds=20)
    with psycopg.connect(cluster.superuser_url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    first.stop()

    started(cluster.service(log=place / "log")).wait_until_ready(seconds=20)

    assert _kept_number(cluster) == 7


def test_server_left_behind_is_stopped_by_the_next_start(cluster: Cluster, place: Path, started):
    abandoned = started(cluster.service(log=place / "log"))
    abandoned.wait_until_ready(seconds=20)
    with psycopg.connect(cluster.superuser_url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")

    started(cluster.service(log=place / "log")).wait_until_ready(seconds=20)

    assert abandoned.exit_status() == 0
    assert _kept_number(cluster) == 7


def test_killed_server_starts_again_on_its_data(cluster: Cluster, place: Path, started):
    cluster = replace(cluster, is_durable=True)
    service = started(cluster.service(log=place / "log"))
    service.wait_until_ready(seconds=20)
    with psycopg.connect(cluster.superuser_url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")

    with closing(psycopg.connect(cluster.superuser_url)):
        os.kill(_postmaster(cluster), signal.SIGKILL)
        service.wait_until_ended(seconds=5)
        service.start()
        service.wait_until_ready(seconds=20)

    assert _kept_number(cluster) == 7


def test_busy_session_of_a_killed_server_does_not_hinder_the_start(cluster: Cluster, place: Path, started):
    service = started(cluster.service(log=place / "log"))
    service.wait_until_ready(seconds=20)
    with closing(psycopg.connect(cluster.superuser_url)) as session:
        # The session notices the death of its server only when this query is done, which takes long.
        session.pgconn.send_query(b"SELECT sum(sqrt(a)) FROM generate_series(1, 200000000) a")
        time.sleep(0.3)

        os.kill(_postmaster(cluster), signal.SIGKILL)
        service.wait_until_ended(seconds=5)
        service.start()
        service.wait_until_ready(seconds=20)

    assert cluster.answers()


def test_lock_file_that_names_another_program_does_not_hinder_the_start(
    cluster: Cluster, place: Path, started
):
    service = started(cluster.service(log=place / "log"))
    service.wait_until_ready(seconds=20)
    service.stop()
    (cluster.data_dir / "postmaster.pid").write_text(f"{os.getpid()}\n")

    service.start()

    service.wait_until_ready(seconds=20)
    assert _postmaster(cluster) != os.getpid()


def test_incomplete_data_directory_is_replaced(place: Path):
    cluster = Cluster(data_dir=place / "postgres", port=find_free_port(), password="secret")
    partial = cluster.data_dir.with_name("postgres.partial")
    partial.mkdir()
    (partial / "PG_VERSION").write_text("18\n")

    cluster.service(log=place / "log")

    assert cluster.exists
    assert not partial.exists()


def test_server_wants_the_password_and_sorts_by_code_point(cluster: Cluster, place: Path, started):
    started(cluster.service(log=place / "log")).wait_until_ready(seconds=20)

    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(cluster.url("postgres", "wrong", database="postgres"))
    with psycopg.connect(cluster.superuser_url) as connection:
        row = connection.execute(
            "SELECT datlocprovider::text, datlocale, lower('É') FROM pg_database WHERE datname = 'postgres'"
        ).fetchone()
    assert row == ("b", "C.UTF-8", "é")


def test_server_does_not_run_as_root(cluster: Cluster, place: Path, started):
    started(cluster.service(log=place / "log")).wait_until_ready(seconds=20)

    user = find_service_user()
    assert cluster.data_dir.stat().st_uid == (user.uid if user else os.getuid())
    assert cluster.data_dir.stat().st_mode & 0o777 == 0o700


def test_server_soon_counts_the_rows_of_a_table_that_grows(cluster: Cluster, place: Path, started):
    durable = replace(cluster, is_durable=True)
    started(durable.service(log=place / "log")).wait_until_ready(seconds=20)

    with psycopg.connect(cluster.superuser_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE filled AS SELECT generate_series(1, 1000) AS number")
        for _ in until_deadline(30, pause=lambda _: time.sleep(0.2)):
            counted = connection.execute(
                "SELECT reltuples::int FROM pg_class WHERE relname = 'filled'"
            ).fetchone()
            if counted == (1000,):
                break

    assert counted == (1000,)


def _postmaster(cluster: Cluster) -> int:
    return int((cluster.data_dir / "postmaster.pid").read_text().split("\n", 1)[0])


def _kept_number(cluster: Cluster) -> int:
    with psycopg.connect(cluster.superuser_url) as connection:
        return connection.execute("SELECT number FROM kept").fetchone()[0]
