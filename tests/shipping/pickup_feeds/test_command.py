"""`manage.py import_pickup_points`, from the files to the table."""

import json
import re
import subprocess
import sys
from io import BytesIO, StringIO
from time import monotonic
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from config.stack.processes import PROJECT_DIR
from shipping.models import PickupPoint
from shipping.pickup_feeds import operations
from shipping.pickup_feeds.errors import FeedRefused
from shipping.pickup_feeds.lines import Line
from shipping.pickup_feeds.operations import Source, import_points
from tests.factories import make_pickup_point
from tests.threads import run_threads

HEADER = "external_id,name,country_code,zip\n"


@pytest.fixture
def feed(tmp_path):
    """Write a file and return its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


def run(*arguments):
    """Run the command; return what it wrote to each output, without the duration."""
    out, err = StringIO(), StringIO()
    call_command("import_pickup_points", *arguments, stdout=out, stderr=err)
    summary, duration = out.getvalue().splitlines()
    assert re.fullmatch(r"[\d,]+ lines in [\d.]+ s, [\d,]+ per second", duration)
    return f"{summary}\n", err.getvalue()


def csv_of(*ids, name="Tabak"):
    return HEADER + "".join(f"{external_id},{name},DE,101 15\n" for external_id in ids)


def make_points(*ids, carrier="gls"):
    return [
        make_pickup_point(
            carrier=carrier,
            external_id=external_id,
            name="Tabak",
            country_code="DE",
            zip="101 15",
            normalised_zip="10115",
            address1="",
            city="",
        )
        for external_id in ids
    ]


def rows():
    return list(PickupPoint.objects.order_by("pk").values())


def statuses(carrier="gls"):
    return dict(PickupPoint.objects.filter(carrier=carrier).values_list("external_id", "status"))


def items(number):
    for index in range(number):
        yield Line(
            index + 1,
            {"external_id": f"p{index}", "name": f"Point {index}", "country_code": "CZ", "zip": "100 00"},
        )


def test_number_of_lines_is_shown_with_the_time_they_took(db, feed):
    out = StringIO()

    call_command(
        "import_pickup_points", "gls", feed("points.csv", csv_of("a", "", "a")), stdout=out, stderr=StringIO()
    )

    assert out.getvalue().splitlines()[1].startswith("3 lines in 0.")


def importing(lines, **options):
    return import_points(carrier="gls", sources=[Source("feed", lines)], now=timezone.now(), **options)


def test_csv_feed_fills_every_column(db, feed):
    path = feed(
        "points.csv",
        "external_id,kind,name,address1,city,zip,country_code,latitude,longitude,opening_hours,is_cod_supported,"
        "max_weight_grams,status\n"
        'a1,locker,Tabak,Torstr. 60,Berlin,101-15,de,52.5,13.4,"{""mon"": ""8-18""}",yes,10000,active\n',
    )

    assert run("gls", path) == ("added 1, changed 0, closed 0, refused 0\n", "")

    (row,) = rows()
    assert {name: str(row[name]) for name in ("latitude", "longitude")} == {
        "latitude": "52.500000",
        "longitude": "13.400000",
    }
    expected = {
        "carrier": "gls",
        "external_id": "a1",
        "kind": "locker",
        "name": "Tabak",
        "address1": "Torstr. 60",
        "city": "Berlin",
        "zip": "101-15",
        "normalised_zip": "10115",
        "country_code": "DE",
        "opening_hours": {"mon": "8-18"},
        "is_cod_supported": True,
        "max_weight_grams": 10000,
        "status": "active",
    }
    assert {name: row[name] for name in expected} == expected


def test_json_lines_feed_adds_points(db, feed):
    path = feed("points.jsonl", '{"external_id": 1, "name": "A", "country_code": "DE"}\n')

    assert run("gls", path)[0] == "added 1, changed 0, closed 0, refused 0\n"

    assert statuses() == {"1": "active"}


def test_packeta_feed_of_points_and_lockers_is_one_feed(db, feed):
    make_points("gone", "79", "80", carrier="packeta")
    item = {"name": "Praha", "country": "cz", "zip": "100 00", "status": {"statusId": "1"}}
    points = feed("branch.json", json.dumps([item | {"id": "79"}]))
    lockers = feed("box.json", json.dumps([item | {"id": "80", "type": "zbox"}]))

    assert run("packeta", points, lockers)[0] == "added 0, changed 2, closed 1, refused 0\n"

    kinds = dict(PickupPoint.objects.values_list("external_id", "kind"))
    assert kinds == {"79": "point", "80": "locker", "gone": "point"}
    assert statuses("packeta") == {"79": "active", "80": "active", "gone": "closed"}


def test_standard_input_is_a_feed(db, monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=BytesIO(csv_of("a").encode())))

    assert run("gls", "-", "--format", "csv")[0] == "added 1, changed 0, closed 0, refused 0\n"


def test_feed_changes_what_differs_and_touches_nothing_else(db, feed):
    same, renamed, _, other = *make_points("a", "b", "c"), *make_points("c", carrier="packeta")
    path = feed("points.csv", csv_of("a", "d") + "b,Kiosk,DE,101 15\n")

    assert run("gls", path)[0] == "added 1, changed 1, closed 1, refused 0\n"

    after = {row["id"]: row for row in rows()}
    assert after[same.pk]["updated_at"] == same.updated_at
    assert after[other.pk]["updated_at"] == other.updated_at
    assert after[renamed.pk]["name"] == "Kiosk"
    assert after[renamed.pk]["updated_at"] > renamed.updated_at
    assert statuses() == {"a": "active", "b": "active", "c": "closed", "d": "active"}
    assert run("gls", path)[0] == "added 0, changed 0, closed 0, refused 0\n"


def test_closed_point_that_comes_back_is_active_again(db, feed):
    make_points("a")
    PickupPoint.objects.update(status="closed")

    assert run("gls", feed("points.csv", csv_of("a")))[0] == "added 0, changed 1, closed 0, refused 0\n"

    assert statuses() == {"a": "active"}


def test_bad_lines_are_reported_and_the_others_imported(db, feed):
    make_points("a", "b", "c")
    path = feed(
        "points.csv",
        HEADER.encode()
        + b"a,Tabak,DE,101 15\nb,Tabak,XX,101 15\nc,Caf\xe9,DE,101 15\n,Tabak,DE,101 15\nd\nd,Tabak,DE,101 15\n"
        + b"a,Kiosk,DE,101 15\n",
    )

    out, err = run("gls", path)

    assert out == "added 1, changed 0, closed 0, refused 5\n"
    assert err.splitlines() == [
        f"{path}:3: country_code isn't an ISO 3166 country code",
        f"{path}:4: name contains invalid characters",
        f"{path}:5: external_id is missing",
        f"{path}:6: has 1 columns instead of 4",
        f"{path}:8: external_id appeared on an earlier line",
    ]
    assert set(PickupPoint.objects.values_list("external_id", "name", "status")) == {
        (external_id, "Tabak", "active") for external_id in "abcd"
    }


def test_refused_lines_past_those_reported_are_counted(db, feed, monkeypatch):
    monkeypatch.setattr(operations, "MAX_REPORTED_REFUSALS", 2)
    path = feed("points.csv", csv_of("a", "", "", "a", "a"))

    out, err = run("gls", path)

    assert out == "added 1, changed 0, closed 0, refused 4\n"
    assert err.splitlines() == [
        f"{path}:3: external_id is missing",
        f"{path}:4: external_id is missing",
        "and 2 more",
    ]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("points.csv", csv_of("b", "c"), "The feed would close 2 of 3 active points of gls."),
        ("points.csv", HEADER, "The feed would close 3 of 3 active points of gls."),
        ("points.csv", "id\n1\n", "{path}: The header lacks external_id, name, country_code."),
        (
            "points.csv",
            csv_of("", ""),
            "The feed has no valid line (2 refused). {path}:2: external_id is missing",
        ),
        (
            "points.jsonl",
            "".join(
                json.dumps({"external_id": key, "name": "A", "country_code": "DE", "status": "closed"}) + "\n"
                for key in "abx"
            ),
            "The feed would close 3 of 3 active points of gls.",
        ),
        (
            "points.json",
            '[\n{"id": "a", "name": "A", "country": "de"},\n{"id": "b", "na',
            "{path}: Invalid JSON at line 3.",
        ),
    ],
)
def test_refused_feed_changes_nothing(db, feed, name, content, reason):
    make_points("a", "b", "x")
    before = rows()
    path = feed(name, content)

    with pytest.raises(CommandError) as caught:
        run("gls", path)

    assert str(caught.value) == f"Nothing was imported. {reason.format(path=path)}"
    assert rows() == before


def test_feed_that_lost_exactly_half_is_imported(db, feed):
    make_points("a", "b")

    assert run("gls", feed("points.csv", csv_of("a")))[0] == "added 0, changed 0, closed 1, refused 0\n"


def test_force_imports_a_feed_that_lost_more_than_half(db, feed):
    make_points("a", "b", "c")

    out, _ = run("gls", feed("points.csv", csv_of("a")), "--force")

    assert out == "added 0, changed 0, closed 2, refused 0\n"
    assert statuses() == {"a": "active", "b": "closed", "c": "closed"}


def test_partial_feed_closes_nothing(db, feed):
    make_points("a", "b", "c")

    out, _ = run("gls", feed("points.csv", csv_of("d")), "--partial")

    assert out == "added 1, changed 0, closed 0, refused 0\n"
    assert statuses() == dict.fromkeys("abcd", "active")


def test_dry_run_tells_what_would_change_and_changes_nothing(db, feed):
    make_points("a", "b", "c")
    before = rows()
    path = feed("points.csv", csv_of("a", "d", "") + "b,Kiosk,DE,101 15\n")

    assert run("gls", path, "--dry-run") == (
        "would be added 1, changed 1, closed 1, refused 1\n",
        f"{path}:4: external_id is missing\n",
    )

    assert rows() == before


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("gls", "-"), "The format of '-' is unknown. Set it with --format."),
        (("gls", "points.xml"), "The format of 'points.xml' is unknown. Set it with --format."),
        (("gls", "/nowhere/points.csv"), "/nowhere/points.csv can't be read: No such file or directory."),
        (("Gls", "points.csv"), "argument carrier: Use at most 64 lower-case letters, digits, _ and -."),
    ],
)
def test_arguments_that_name_no_feed_are_refused(db, arguments, reason):
    with pytest.raises(CommandError) as caught:
        run(*arguments)

    assert reason in str(caught.value)


def test_exit_code_is_1_for_a_refused_feed(db):
    done = subprocess.run(
        [sys.executable, "manage.py", "import_pickup_points", "gls", "-", "--format", "jsonl"],
        cwd=PROJECT_DIR,
        input="nonsense\n",
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        "CommandError: Nothing was imported. The feed has no valid line (1 refused)."
        " standard input:1: is not JSON\n"
    )


@pytest.mark.django_db(transaction=True)
def test_second_import_of_a_carrier_at_once_is_refused():
    rivals = []

    def lines():
        yield from items(1)
        rivals.extend(run_threads(1, lambda _: importing(items(2))))

    summary = importing(lines())

    assert summary.added == 1
    assert [(type(rival), str(rival)) for rival in rivals] == [
        (FeedRefused, "Another import of gls is running.")
    ]
    assert statuses() == {"p0": "active"}
    assert importing(items(2)).added == 1


@pytest.mark.django_db(transaction=True)
def test_two_carriers_are_imported_at_once():
    rivals = []

    def lines():
        yield from items(1)
        source = Source("feed", items(2))
        work = lambda _: import_points(carrier="dpd", sources=[source], now=timezone.now())  # noqa: E731
        rivals.extend(run_threads(1, work))

    assert importing(lines()).added == 1

    assert [rival.added for rival in rivals] == [2]
    assert (len(statuses("gls")), len(statuses("dpd"))) == (1, 2)


@pytest.mark.parametrize("number", [1, 3])
def test_import_takes_the_same_statements_whatever_its_length(db, django_assert_num_queries, number):
    make_points("gone", *(f"p{index}" for index in range(number)))

    # The lock, two tables created and one filled and analysed, repeated lines, two counts, two writes, the tables
    # dropped, and a savepoint around it all.
    with django_assert_num_queries(13):
        importing(items(number))


def test_twenty_thousand_points_take_seconds(db):
    started = monotonic()

    assert importing(items(20_000)).added == 20_000
    assert importing(items(20_000)).changed == 0

    assert monotonic() - started < 90
