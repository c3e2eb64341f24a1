"""Rows of CSV files, their lines, and what can't be read."""

import csv

import pytest

from accounts.shop_import.files import FileRefused
from tests.accounts.shop_import.reading import read


def test_row_is_numbered_by_its_first_line():
    table = read('Handle,Body\ntea,"one\ntwo\nthree"\n\ncup,four\n')

    assert [(row.line, dict(row.cells)) for row in table] == [
        (2, {"Handle": "tea", "Body": "one\ntwo\nthree"}),
        (6, {"Handle": "cup", "Body": "four"}),
    ]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separator_and_byte_order_mark_are_recognised(separator):
    (row,) = read(b"\xef\xbb\xbf" + f"Handle{separator}Title\r\ntea{separator}Tea\r\n".encode())

    assert dict(row.cells) == {"Handle": "tea", "Title": "Tea"}


def test_empty_cells_are_left_out_and_the_others_counted():
    table = read("Handle,Title,Tags\ntea, ,green\ncup,Cup,\n")

    cells = [dict(row.cells) for row in table]

    assert cells == [{"Handle": "tea", "Tags": "green"}, {"Handle": "cup", "Title": "Cup"}]
    assert table.filled == {"Handle": 2, "Tags": 1, "Title": 1}


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("'00417", "00417"), ("'+49 341 5550123", "+49 341 5550123"), ("'=A1", "=A1"), ("'-5 %", "-5 %"),
        ("'90s Poster", "'90s Poster"), ("'t Veld", "'t Veld"),
    ],
)  # fmt: skip
def test_apostrophe_for_spreadsheets_is_removed(text, cell):
    (row,) = read(f"SKU\n{text}\n")

    assert row.get("SKU") == cell


def test_row_with_other_columns_or_bytes_has_a_problem():
    rows = list(read(b"Handle,Title\ntea\ncup,Cup,3\npot,K\xe4nnchen\njug,J\0g\n"))

    assert [row.problem for row in rows] == [
        "It has 1 columns instead of 2.", "It has 3 columns instead of 2.", "It isn't in UTF-8.",
        "It has a null character.",
    ]  # fmt: skip
    # What remains can be shown and compared.
    assert [row.get("Title") for row in rows] == ["", "Cup", "K\ufffdnnchen", "J\ufffdg"]


def test_column_name_in_another_encoding_can_be_shown():
    assert read(b"Handle,Gr\xf6\xdfe\n").columns == ("Handle", "Gr\ufffd\ufffde")


def test_long_cell_is_read():
    (row,) = read('Handle,Body\ntea,"' + "<p>\n" * 200_000 + '"\n')

    assert len(row.get("Body")) == 4 * 200_000 - 1
    assert csv.field_size_limit() == 131_072


def test_header_that_cannot_be_read_is_refused():
    with pytest.raises(FileRefused) as refused:
        read("a" * 200_000)

    assert str(refused.value) == "Line 1 is not CSV: field larger than field limit (131072)."


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('Handle\ntea\n"cup', "Line 3 is not CSV: unexpected end of data."),
        ('Handle\n"te"a\n', "Line 2 is not CSV: ',' expected after '\"'."),
        ('Handle\n"' + "tea\n" * 300_000, "Line 2 is not CSV: field larger than field limit (1048576)."),
        ("Handle\n" + "a" * 2_000_000, "Line 2 is longer than 1048576 characters."),
    ],
)
def test_file_that_cannot_be_read_is_refused_with_its_line(text, reason):
    with pytest.raises(FileRefused) as refused:
        list(read(text))

    assert str(refused.value) == reason
