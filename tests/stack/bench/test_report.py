import pytest

from config.stack.bench.load import Measurement
from config.stack.bench.report import BEGIN, END, as_markdown, cells_of, replace_block
from config.stack.errors import StackError


def test_cells_show_rate_latencies_statements_and_ratio():
    measured = Measurement(latencies=[0.0012, 0.0034] * 1000, elapsed=1)

    cells = cells_of("create a cart", measured, statements=4, first_rate=8000)

    assert cells == ("create a cart", "2,000", "1.2", "3.4", "4", "25.0%")


def test_block_is_replaced_and_the_rest_kept(tmp_path):
    document = tmp_path / "performance.md"
    document.write_text(f"# Before\n\n{BEGIN}\nold\n{END}\n\nAfter\n")

    replace_block(document, ["new", "lines"])
    replace_block(document, as_markdown([("a", "1", "2", "3", "4", "5")]))

    assert document.read_text() == (
        f"# Before\n\n{BEGIN}\n"
        "| Operation | per second | p50 ms | p99 ms | SQL | of /healthz |\n"
        "|---|---:|---:|---:|---:|---:|\n"
        "| a | 1 | 2 | 3 | 4 | 5 |\n"
        f"{END}\n\nAfter\n"
    )


def test_document_without_a_block_is_left_alone(tmp_path):
    document = tmp_path / "performance.md"
    document.write_text("# Nothing marked\n")

    with pytest.raises(StackError):
        replace_block(document, ["new"])

    assert document.read_text() == "# Nothing marked\n"
