"""The MIME of messages, compared with what Django and Python's `email` make of them."""

from email import message_from_bytes

import pytest
from django.core.mail import EmailMultiAlternatives
from hypothesis import given
from hypothesis import strategies as st

from emails.messages import Message
from emails.providers.mime import build_mime

# With all that Python splits lines at, and the signs that MIME gives a meaning.
TEXTS = st.text(st.sampled_from("aB1ž€\U0001f600 .=-'\"\\\t\n\r\x0b\x0c\x1c\x85\u2028"), max_size=200)
# A subject with one of these is refused.
LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
HEADERS = {"Message-ID": "<1@example.com>", "Date": "Mon, 23 Nov 2026 05:26:47 -0000"}


def build(text, html, **fields):
    fields = {"subject": "Order 1001", "from_name": "Hats", "reply_to": "help@example.com"} | fields
    return Message(
        from_email="hats@example.com",
        to_email="ann@example.com",
        locale="cs-CZ",
        text=text,
        html=html,
        **fields,
    )


def write(message, linesep="\n"):
    return build_mime(message, headers=HEADERS).message().as_bytes(linesep=linesep)


def write_by_django(message, *, linesep="\n", like):
    mail = EmailMultiAlternatives(
        message.subject,
        message.text,
        f"{message.from_name} <{message.from_email}>",
        [message.to_email],
        reply_to=[message.reply_to],
        headers={"Content-Language": message.locale} | HEADERS,
    )
    mail.attach_alternative(message.html, "text/html")
    mime = mail.message()
    # Python's own is a random number.
    mime.set_boundary(message_from_bytes(like).get_boundary())
    return mime.as_bytes(linesep=linesep)


@pytest.mark.parametrize("linesep", ["\n", "\r\n"])
@given(text=TEXTS, html=TEXTS)
def test_any_texts_are_written_as_by_django(linesep, text, html):
    message = build(text, html)
    written = write(message, linesep)

    assert written == write_by_django(message, linesep=linesep, like=written)


@pytest.mark.parametrize("length", [998, 999, 5000])
@pytest.mark.parametrize("letter", ["a", "ž", "\U0001f600"])
@pytest.mark.parametrize("linesep", ["\n", "\r\n"])
def test_long_lines_are_written_as_by_django(length, letter, linesep):
    message = build("short", "<p>\n" + (letter * length)[: length // len(letter.encode())] + "\n</p>")
    written = write(message, linesep)

    assert written == write_by_django(message, linesep=linesep, like=written)
    assert max(map(len, written.split(linesep.encode()))) <= 998


@pytest.mark.parametrize(
    "fields",
    [
        {"subject": "Vaše objednávka 1001"},
        {"subject": "Příliš žluťoučký kůň " * 9 + "konec"},
        {"subject": "a" * 900},
        {"subject": "A long subject of many short words " * 9},
        {"subject": ""},
        {"from_name": "Klobouky Žižkov"},
        {"reply_to": "help@příklad.cz"},
    ],
)
def test_headers_are_written_as_by_django(fields):
    message = build("Děkujeme", "<p>Děkujeme</p>", **fields)
    written = write(message)

    assert written == write_by_django(message, like=written)


@given(subject=st.text(st.characters(codec="utf-8", exclude_characters=LINE_ENDS), max_size=90))
def test_any_subject_is_written_as_by_django(subject):
    # One that looks like an encoded word is written otherwise: see test_local_provider.py.
    message = build("Děkujeme", "<p>Děkujeme</p>", subject=subject.replace("=?", ""))
    written = write(message)

    assert written == write_by_django(message, like=written)


def test_message_is_written_again_with_the_same_boundary():
    mail = build_mime(build("Děkujeme", "<p>Děkujeme</p>"), headers=HEADERS)

    assert mail.message().as_bytes() == mail.message().as_bytes()
