"""Formats: what each reader parses, and that it keeps no more of a text than needed."""

from io import BytesIO, StringIO

import pytest

from shipping.pickup_feeds.errors import FeedRefused
from shipping.pickup_feeds.formats import read_feed
from shipping.pickup_feeds.json_array import read_json_array
from shipping.pickup_feeds.lines import MAX_LENGTH, Line
from shipping.pickup_feeds.readers import read_csv, read_json_lines


class Endless(StringIO):
    """An endless text that counts how much of it was read."""

    taken = 0

    def __init__(self, head):
        super().__init__(head)

    def read(self, size=-1):
        self.taken += size
        return super().read(size) or "x" * size

    def readline(self, size=-1):
        self.taken += size
        return super().readline(size) or "x" * size


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_takes_the_delimiter_of_its_header(delimiter):
    text = "external_id,name,country_code,zip\n1,A,DE,\n\n2,B,CZ,100 00\n".replace(",", delimiter)

    assert list(read_csv(StringIO(text, newline=""))) == [
        Line(2, {"external_id": "1", "name": "A", "country_code": "DE"}),
        Line(4, {"external_id": "2", "name": "B", "country_code": "CZ", "zip": "100 00"}),
    ]


def test_csv_row_is_numbered_by_the_line_where_it_begins():
    text = 'external_id,name,country_code\r\n1,"A\r\nB",DE\r\n2,C,DE\r\n'

    assert [(line.number, line.fields["name"]) for line in read_csv(StringIO(text, newline=""))] == [
        (2, "A\r\nB"),
        (4, "C"),
    ]


def test_csv_goes_on_after_a_bad_row():
    text = 'external_id,name,country_code\n1,"A"b,DE\n2,B\n3,C,DE\n'

    lines = list(read_csv(StringIO(text, newline="")))

    assert [(line.number, line.problem) for line in lines] == [
        (2, "is not CSV: ',' expected after '\"'"),
        (3, "has 2 columns instead of 3"),
        (4, ""),
    ]
    assert lines[1].fields == {"external_id": "2", "name": "B"}


def test_csv_with_quotes_that_do_not_end_is_refused():
    text = 'external_id,name,country_code\n1,A,DE\n2,"B,DE\n' + "3,C,DE\n" * 200

    with pytest.raises(FeedRefused, match=r"^The quotes opened on line 3 aren't closed\.$"):
        list(read_csv(StringIO(text, newline="")))


@pytest.mark.parametrize("text", ["", "external_id,name\n1,A\n", '[{"id": "1"}]'])
def test_csv_without_the_required_columns_is_refused(text):
    with pytest.raises(FeedRefused, match=r"header lacks .*country_code"):
        list(read_csv(StringIO(text)))


def test_json_lines_go_on_after_a_bad_line():
    text = '{"name": "A"}\n\n{"name": \n[1]\n{"name": NaN}\n{"name": "B"}'

    assert list(read_json_lines(StringIO(text))) == [
        Line(1, {"name": "A"}),
        Line(3, {}, "is not JSON"),
        Line(4, {}, "is not a JSON object"),
        Line(5, {}, "is not JSON"),
        Line(6, {"name": "B"}),
    ]


@pytest.mark.parametrize("text", ["[]", " [\n] \n"])
def test_json_array_may_be_empty(text):
    assert list(read_json_array(StringIO(text))) == []


def test_json_array_items_are_numbered_by_the_line_where_they_begin():
    text = '[{"a": [1,\n2]}, {"b": "]"}\n,\n\n{"c":\n{}}, 12, null\n]\n'

    assert list(read_json_array(StringIO(text))) == [
        Line(1, {"a": [1, 2]}),
        Line(2, {"b": "]"}),
        Line(5, {"c": {}}),
        Line(6, {}, "is not a JSON object"),
        Line(6, {}, "is not a JSON object"),
    ]


@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_json_array_is_the_same_in_whatever_pieces_it_comes(size, monkeypatch):
    monkeypatch.setattr("shipping.pickup_feeds.json_array._CHUNK", size)
    text = '[ {"a": "x\\"}y"},\n{"b": -12.5e3} , 123 ]'

    assert list(read_json_array(StringIO(text))) == [
        Line(1, {"a": 'x"}y'}),
        Line(2, {"b": -12500.0}),
        Line(2, {}, "is not a JSON object"),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ('{"a": 1}', 1),
        ('[{"a": 1}', 1),
        ('[\n{"a": 1},\n{"a": ', 3),
        ('[\n{"a": 1}\n{"a": 2}]', 3),
        ('[\n{"a": NaN}]', 2),
        ("[{}] []", 1),
        ("[{},]", 1),
        ("[" * 100_000, 1),
    ],
)
def test_json_array_that_is_broken_is_refused(text, line):
    with pytest.raises(FeedRefused, match=f"Invalid JSON at line {line}"):
        list(read_json_array(StringIO(text)))


@pytest.mark.parametrize(
    ("read", "head"),
    [
        (read_csv, "external_id,name,country_code\n"),
        (read_csv, ""),
        (read_json_lines, '{"a": 1}\n'),
        (read_json_array, '[{"a": "'),
    ],
)
def test_text_without_an_end_is_refused_early(read, head):
    text = Endless(head)

    with pytest.raises(FeedRefused):
        list(read(text))

    assert text.taken <= 3 * MAX_LENGTH


def test_byte_order_mark_is_passed_over():
    feed = BytesIO(b"\xef\xbb\xbfexternal_id,name,country_code\n1,A,DE\n")

    assert list(read_feed(feed, format_name="csv")) == [
        Line(2, {"external_id": "1", "name": "A", "country_code": "DE"})
    ]


def test_packeta_items_get_our_field_names():
    feed = BytesIO(
        b'[{"id": "79", "name": "Praha 1", "special": null, "place": "Tabak", "street": "Vodickova 12",'
        b' "city": "Praha", "zip": "110 00", "country": "cz", "status": {"statusId": "1"},'
        b' "displayFrontend": "1", "creditCardPayment": "yes", "maxWeight": "5.5", "latitude": "50.08",'
        b' "longitude": "14.42", "openingHours": {"regular": {"monday": "08:00-18:00"}}}]'
    )

    assert [line.fields for line in read_feed(feed, format_name="packeta")] == [
        {
            "external_id": "79",
            "name": "Praha 1",
            "address1": "Vodickova 12",
            "city": "Praha",
            "zip": "110 00",
            "country_code": "cz",
            "latitude": "50.08",
            "longitude": "14.42",
            "kind": "point",
            "opening_hours": {"regular": {"monday": "08:00-18:00"}},
            "is_cod_supported": True,
            "max_weight_grams": 5500,
            "status": "active",
        }
    ]


@pytest.mark.parametrize(
    ("item", "field", "value"),
    [
        (b'{"type": "zbox"}', "kind", "locker"),
        (b'{"openingHours": []}', "opening_hours", None),
        (b'{"creditCardPayment": "no"}', "is_cod_supported", False),
        (b'{"maxWeight": ""}', "max_weight_grams", ""),
        (b'{"maxWeight": "heavy"}', "max_weight_grams", "heavy"),
        (b'{"maxWeight": "1e999999999999"}', "max_weight_grams", "1e999999999999"),
        (b'{"status": {"statusId": "2"}}', "status", "closed"),
        (b'{"displayFrontend": "0"}', "status", "closed"),
        (b"{}", "status", "active"),
    ],
)
def test_packeta_strings_stand_for_numbers_and_booleans(item, field, value):
    (line,) = read_feed(BytesIO(b"[" + item + b"]"), format_name="packeta")

    assert line.fields[field] == value
