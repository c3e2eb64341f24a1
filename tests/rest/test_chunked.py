from io import BytesIO

from commerce.rest.chunked import WithContentLength

LIMIT = 1024 * 1024


def seen_by_the_application(body, **environ):
    seen = {}

    def application(environ, start_response):
        seen["length"] = environ.get("CONTENT_LENGTH")
        seen["body"] = environ["wsgi.input"].read()
        return []

    WithContentLength(application)({"wsgi.input": BytesIO(body)} | environ, lambda *_: None)
    return seen


def test_chunked_body_gets_its_length():
    seen = seen_by_the_application(b'{"a": 1}', HTTP_TRANSFER_ENCODING="Chunked")

    assert seen == {"length": "8", "body": b'{"a": 1}'}


def test_chunked_body_is_read_no_further_than_is_needed_to_refuse_it():
    seen = seen_by_the_application(b"a" * (LIMIT + 100), HTTP_TRANSFER_ENCODING="chunked")

    assert (seen["length"], len(seen["body"])) == (str(LIMIT + 1), LIMIT + 1)


def test_other_bodies_are_left_alone():
    assert seen_by_the_application(b"{}", CONTENT_LENGTH="2") == {"length": "2", "body": b"{}"}
