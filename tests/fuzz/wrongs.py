"""Mistakes in requests: each function spoils one thing of a valid request."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from config.versions import CURRENT_VERSION
from tests.fuzz.wire import Request

BODY_LIMIT = 1024 * 1024
METHODS = (b"GET", b"POST", b"PUT", b"PATCH", b"DELETE", b"HEAD", b"OPTIONS", b"TRACE", b"PROPFIND", b"get")
CONTENT_TYPES = (
    b"application/json; charset=utf-8", b"application/json; charset=utf-16", b"application/json; charset=nonsense",
    b"text/plain", b"application/xml", b"multipart/form-data", b"multipart/form-data; boundary=x", b"", b"json", b"\xff",
    b"application/x-www-form-urlencoded", b"application/json" * 200,
    b"application/json; charset=zlib", b"application/json; charset=undefined", b"application/json; charset*=idna''%41",
    b"application/json; x*=nonsense''1", b"application/json; x*0*=utf-8''a; x*=y", b"a/b; x*" + b"9" * 5_000 + b"=1",
)  # fmt: skip
HEADERS: tuple[tuple[bytes, tuple[bytes, ...]], ...] = (
    (b"Idempotency-Key", (b"a", b"", b" ", b"x" * 256, b"x" * 5_000, b"\xff\xfe", b"\xc3\xa4", b"refund_payment/1")),
    (b"Accept", (b"*/*", b"text/html", b"application/xml", b"", b"*", b"application/json;q=x", b"\xff", b"a" * 3_000,
                 b"*/*; q*=nonsense''1", b"text/html, */*; x*0*=utf-8''a; x*=y")),
    (b"Accept-Language", (b"de", b"xx-" + b"x" * 500, b"\xff", b"*;q=0")),
    (b"Accept-Encoding", (b"gzip", b"identity;q=0", b"\xff")),
    (b"Content-Encoding", (b"gzip", b"br", b"nonsense")),
    (b"Content-Language", (b"\xff",)),
    (b"Cookie", (b"sessionid=x; csrftoken=y", b"=", b"\xff", b"a=" + b"x" * 4_000, b"sessionid=" + b"x" * 300)),
    (b"Expect", (b"100-continue",)),
    (b"Forwarded", (b'for="[::1]"', b"for=;")),
    (b"If-Match", (b'"x"', b"\xff")),
    (b"If-Modified-Since", (b"yesterday", b"Thu, 01 Jan 1970 00:00:00 GMT")),
    (b"If-None-Match", (b"*", b'W/"x"')),
    (b"Origin", (b"null", b"https://evil.example", b"\xff", b"http://[", b"")),
    (b"Prefer", (b"handling=strict", b"handling=lenient", b"handling=\xff", b"handling", b", ,=")),
    (b"Provider-Signature", (b"", b"00", b"\xff", b"f" * 64)),
    (b"Range", (b"bytes=0-1", b"bytes=-")),
    (b"Referer", (b"https://x.example/", b"\xff")),
    (b"Svix-Id", (b"\xff", b"a", b"x" * 2_000)),
    (b"Svix-Timestamp", (b"x", b"9" * 40, b"-1", b"1e9", b"NaN")),
    (b"Stripe-Signature", (b"t=x,v1=y", b"t=9999999999999999999,v1=" + b"0" * 64, b"\xff")),
    (b"User-Agent", (b"", b"\xff", b"x" * 5_000)),
    (b"X-Account-Id", (b"0", b"-1", b"x", b"9" * 30, b"\xd9\xa1", b"\xff")),
    (b"X-Customer-Token", (b"x", b"\xff")),
    (b"X-Forwarded-For", (b"1.2.3.4", b"::1, x", b"\xff", b"," * 500, b"1.2.3.4:99999")),
    (b"X-Forwarded-Host", (b"evil.example",)),
    (b"X-Forwarded-Proto", (b"https", b"javascript")),
    (b"X-Http-Method-Override", (b"DELETE",)),
    (b"X-Request-Id", (b"a", b"", b"x" * 3_000, b"\xff", b"a b", b"<script>")),
    (b"X_Forwarded_For", (b"1.2.3.4",)),
)  # fmt: skip


def _cut(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _with_bytes(random: Random, data: bytes) -> bytes:
    at = random.randrange(len(data) + 1)
    odd = (
        b"\x00",
        b"\xff",
        b"\\ud800",
        b"\\u0000",
        b'"',
        b"}",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"1e999",
        b"NaN",
        b"9" * 400,
    )
    return data[:at] + random.choice(odd) + data[at:]


def _twice_the_keys(random: Random, data: bytes) -> bytes:
    return b"{" + data[1:-1] + b"," + data[1:] if data[:1] == b"{" and len(data) > 2 else b'{"a":1,"a":2}'


def _in_texts(random: Random, data: bytes) -> bytes:
    return data.replace(
        b'"',
        random.choice((b'"\\ud800', b'"\\u0000', b'"\xff', b'"\xf0\x9f\xa6\x84')),
        random.randrange(1, 6),
    )


def _deep(random: Random, data: bytes) -> bytes:
    depth = random.choice((50, 500, 5_000, 100_000))
    return random.choice((b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth, b"[" * depth))


def _large(random: Random, data: bytes) -> bytes:
    return b'{"a":"' + b"x" * random.choice((BODY_LIMIT - 100, BODY_LIMIT + 1, 3 * BODY_LIMIT)) + b'"}'


def _other_encoding(random: Random, data: bytes) -> bytes:
    text = data.decode("utf-8", "replace")
    return text.encode(random.choice(("utf-16", "utf-32", "utf-8-sig", "utf-16-le")), "replace")


def _other_json(random: Random, data: bytes) -> bytes:
    return random.choice(
        (b"", b" ", b"null", b"[]", b"1", b'"x"', b"[{}]", b"true", b"{}{}", b"\n" * 1_000, b"{'a':1}")
    )


SPOILS: tuple[Callable[[Random, bytes], bytes], ...] = (
    _cut, _with_bytes, _with_bytes, _twice_the_keys, _in_texts, _deep, _other_encoding, _other_json, _other_json,
    # Rarely, because a mebibyte takes time.
    lambda random, data: _large(random, data) if random.random() < 0.2 else _cut(random, data),
)  # fmt: skip


def _other_method(random: Random, request: Request) -> Request:
    return replace(request, method=random.choice(METHODS))


def _more_headers(random: Random, request: Request) -> Request:
    more = [(name, random.choice(values)) for name, values in random.sample(HEADERS, random.randint(1, 3))]
    return replace(request, headers=(*request.headers, *more))


def _other_content_type(random: Random, request: Request) -> Request:
    kept = [pair for pair in request.headers if pair[0] != b"Content-Type"]
    return replace(request, headers=(*kept, (b"Content-Type", random.choice(CONTENT_TYPES))))


def _other_host(random: Random, request: Request) -> Request:
    hosts = (b"evil.example", b"", b"a b", b"\xff", b"127.0.0.1:99999", b"[::1", b"x" * 300, b"a/b")
    return replace(request, headers=((b"Host", random.choice(hosts)), *request.headers[1:]))


def _chunks(random: Random, request: Request) -> Request:
    return replace(request, is_chunked=True)


def _other_target(random: Random, request: Request) -> Request:
    target = request.target
    path = target.partition(b"?")[0]
    version = CURRENT_VERSION.encode()
    return replace(
        request,
        target=random.choice(
            (
                path.replace(b".json", b""),
                path + b"/",
                b"/" + target,
                path.upper(),
                path.replace(version, b"2027-01"),
                path + b".json",
                path.replace(b"/", b"//"),
                path + b"%00",
                path + b"/../" + b"x" * 50,
                b"/" + b"x" * 6_000,
                path + b"?" + b"x" * 4_000,
                path + b"#fragment",
                b"http://evil.example" + path,
            )
        ),
    )


def _broken(random: Random, request: Request) -> Request:
    """Turn the request into invalid HTTP."""
    pairs = (
        (b"Content-Length", random.choice((b"-1", b"x", b"99999999999999999999", b"1, 2", b"+5", b""))),
        (b"Transfer-Encoding", random.choice((b"chunked, gzip", b"gzip", b"xchunked", b""))),
        (b"Bad\x00Name", b"x"),
        (b"Bad Name", b"x"),
        (b"X-Null", b"a\x00b"),
        (b"X-Long", b"x" * 100_000),
    )
    change: dict[str, Any] = random.choice(
        (
            {"headers": (*request.headers, random.choice(pairs))},
            {"target": request.target + random.choice((b" x", b"\xff", b"\x00", b"\t"))},
            {"method": random.choice((b"", b"G\x00T", b"x" * 200, b"\xff"))},
            {"headers": (*request.headers, *[(b"X-Many-%d" % n, b"x") for n in range(300)])},
            {"headers": request.headers[1:]},
            {"headers": (*request.headers, (b"Host", b"b.example"))},
        )
    )
    return replace(request, is_malformed=True, **change)


WRONGS: tuple[Callable[[Random, Request], Request], ...] = (
    _other_method, _more_headers, _more_headers, _more_headers, _other_content_type, _other_host, _chunks, _chunks,
    _other_target, _broken,
)  # fmt: skip
