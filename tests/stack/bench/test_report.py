import pytest

from config.stack.bench.load import Measurement
from config.stack.bench.report import OF_PROCESSES, as_markdown, cells_of, replace_block, rows_of_processes
from config.stack.errors import StackError

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


BASE = Measurement(latencies=[0.001] * 7000, elapsed=1, cpu={"web": 1.75})


def test_cells_show_rate_latencies_statements_processor_time_and_shares():
    cpu = {"web": 1.5, "PostgreSQL": 0.5, "worker": 3.0}
    measured = Measurement(latencies=[0.0012, 0.0034] * 1000, elapsed=1, cpu=cpu)

    cells = cells_of("create a cart", measured, statements=4, base=BASE)

    # The limit: 0.25 ms of the web for a request that does nothing, and 0.25 ms of PostgreSQL.
    assert cells == ("create a cart", "2,000", "1.2", "3.4", "4", "0.75", "0.25", "50%", "28.57%")


def test_limit_of_a_journey_counts_each_of_its_requests():
    measured = Measurement(latencies=[0.4] * 10, elapsed=1, cpu={"web": 0.3, "PostgreSQL": 0.1})

    cells = cells_of("a whole journey", measured, statements=80, base=BASE, requests=12)

    # 12 times 0.25 ms and 10 ms, of 40 ms.
    assert cells == ("a whole journey", "10.0", "400.0", "400.0", "80", "30.00", "10.00", "32%", "0.14%")


def test_answer_that_takes_less_than_nothing_of_django_has_no_limit():
    measured = Measurement(latencies=[0.001] * 100, elapsed=1, cpu={"web": 0.005, "PostgreSQL": 0.0})

    cells = cells_of("GET /healthz", measured, statements=0, base=BASE)

    assert cells == ("GET /healthz", "100", "1.0", "1.0", "0", "0.05", "0.00", "-", "1.43%")


def test_unknown_processor_time_is_shown_as_a_dash():
    measured = Measurement(latencies=[0.4, 0.4], elapsed=0.8)

    cells = cells_of("a whole journey", measured, statements=80, base=BASE)

    assert cells == ("a whole journey", "2.5", "400.0", "400.0", "80", "-", "-", "-", "0.04%")


def test_processes_show_memory_and_time_per_journey():
    one = Measurement(latencies=[0.1] * 10, own_time=0.01, cpu={"web": 0.3, "PostgreSQL": 0.2})
    other = Measurement(latencies=[0.1] * 20, own_time=0.01, cpu={"web": 0.4, "PostgreSQL": 0.3})

    rows = list(rows_of_processes([one, other], {"web": 240.4}))

    assert rows == [
        ("PostgreSQL", "-", "20.0", "15.0"),
        ("web", "240", "30.0", "20.0"),
        ("load generator", "", "1.0", "0.5"),
        ("all", "240", "51.0", "35.5"),
    ]


def test_block_is_replaced_and_the_rest_kept(tmp_path):
    document = tmp_path / "performance.md"
    document.write_text(f"# Before\n\n{BEGIN}\nold\n{END}\n\nAfter\n")

    replace_block(document, "figures", ["new", "lines"])
    replace_block(document, "figures", as_markdown(OF_PROCESSES, [("web", "1", "2", "3", "4", "5")]))

    assert document.read_text() == (
        f"# Before\n\n{BEGIN}\n"
        "| Processes | MB | journey ms | 8 accounts | paused | 8, paused |\n"
        "|---|---:|---:|---:|---:|---:|\n"
        "| web | 1 | 2 | 3 | 4 | 5 |\n"
        f"{END}\n\nAfter\n"
    )


def test_document_without_the_block_is_left_alone(tmp_path):
    document = tmp_path / "performance.md"
    document.write_text(f"{BEGIN}\nold\n{END}\n")

    with pytest.raises(StackError):
        replace_block(document, "profile", ["new"])

    assert document.read_text() == f"{BEGIN}\nold\n{END}\n"
