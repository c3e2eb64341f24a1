import re
from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.utils import parseaddr

import pytest

from emails.messages import Message
from emails.providers import MessageRefused, ProviderUnavailable
from emails.providers.local import LocalProvider
from tests.threads import run_threads

MESSAGE = Message(
    from_name="Hats & Co",
    from_email="hats@example.com",
    to_email="ann@example.com",
    locale="cs-CZ",
    subject="Vaše objednávka 1001",
    html="<p>Děkujeme</p>",
    text="Děkujeme",
)


@pytest.fixture
def provider(tmp_path):
    return LocalProvider(tmp_path / "mail")


def header_of(provider, name):
    """Return a header of the only message sent, still encoded, as `policy.default` decodes long ones wrongly."""
    (path,) = provider.folder.glob("*.eml")
    return message_from_bytes(path.read_bytes())[name]


def decoded(text):
    return str(make_header(decode_header(text)))


def names(provider):
    return sorted(path.name for path in provider.folder.iterdir())


def test_message_is_written_as_mime_and_as_html(provider):
    message_id = provider.send(MESSAGE, idempotency_key="1:order.confirmation:1001")

    html_path, mime_path = sorted(provider.folder.iterdir(), key=lambda path: path.suffix, reverse=True)
    assert re.fullmatch(r"1-order-confirmation-1001-[0-9a-f]{16}\.eml", mime_path.name)
    assert html_path.name == mime_path.with_suffix(".html").name
    assert html_path.read_text() == "<p>Děkujeme</p>"
    mail = message_from_bytes(mime_path.read_bytes(), policy=policy.default)
    assert mail.get_content_type() == "multipart/alternative"
    assert [part.get_content_type() for part in mail.iter_parts()] == ["text/plain", "text/html"]
    assert [part.get_content().strip() for part in mail.iter_parts()] == ["Děkujeme", "<p>Děkujeme</p>"]
    assert mail["From"] == "Hats & Co <hats@example.com>"
    assert mail["To"] == "ann@example.com"
    assert mail["Subject"] == "Vaše objednávka 1001"
    assert mail["Message-ID"] == message_id
    assert mail["Content-Language"] == "cs-CZ"
    assert mail["Date"].datetime.date() == datetime.now(UTC).date()


def test_message_sent_again_under_its_key_stays_as_it_was(provider):
    message_id = provider.send(MESSAGE, idempotency_key="a")
    before = {path: path.read_bytes() for path in provider.folder.iterdir()}

    assert provider.send(replace(MESSAGE, subject="Other"), idempotency_key="a") == message_id

    assert {path: path.read_bytes() for path in provider.folder.iterdir()} == before


def test_message_sent_by_several_workers_at_once_is_one(provider):
    message_ids = run_threads(4, lambda _index: provider.send(MESSAGE, idempotency_key="a"))

    assert len(set(message_ids)) == 1
    assert [name.rpartition(".")[2] for name in names(provider)] == ["eml", "html"]


@pytest.mark.parametrize(
    "name", ['Žižkov, "Hats" & Co', "Příliš žluťoučký kůň úpěl ďábelské ódy " * 3, "", "a@b <c>"]
)
def test_sender_may_have_any_name(provider, name):
    provider.send(replace(MESSAGE, from_name=name.strip()), idempotency_key="a")

    shown_name, address = parseaddr(header_of(provider, "From"))
    assert decoded(shown_name) == name.strip()
    assert address == "hats@example.com"


def test_subject_may_be_long(provider):
    subject = "Příliš žluťoučký kůň úpěl ďábelské ódy " * 6 + "konec"
    provider.send(replace(MESSAGE, subject=subject), idempotency_key="a")

    (path,) = provider.folder.glob("*.eml")
    assert decoded(header_of(provider, "Subject")) == subject
    assert max(len(line) for line in path.read_bytes().splitlines()) <= 78


ENCODED_WORD = "=?utf-8?q?service=40bank=2Eexample?="


@pytest.mark.parametrize(
    "text", [ENCODED_WORD, f'"{ENCODED_WORD}", {ENCODED_WORD}', f"Žižkov {ENCODED_WORD * 5}"]
)
def test_text_that_looks_like_an_encoded_word_is_shown_as_it_is(provider, text):
    provider.send(replace(MESSAGE, from_name=text, subject=text), idempotency_key="a")

    shown_name, address = parseaddr(header_of(provider, "From"))
    assert (decoded(shown_name), address) == (text, "hats@example.com")
    assert decoded(header_of(provider, "Subject")) == text


def test_recipient_may_have_a_domain_of_any_script(provider):
    provider.send(replace(MESSAGE, to_email="ann@příklad.cz"), idempotency_key="a")

    assert header_of(provider, "To") == "ann@xn--pklad-zsa96e.cz"


@pytest.mark.parametrize("key", ["../../etc/passwd", "a/b", "ž", ".", "\\", "a" * 255, " ", "CON"])
def test_any_key_makes_a_file_in_the_folder(provider, key):
    provider.send(MESSAGE, idempotency_key=key)

    assert len(names(provider)) == 2
    assert all(re.fullmatch(r"[a-z0-9-]{16,77}\.(eml|html)", name) for name in names(provider))


def test_keys_that_read_alike_make_different_files(provider):
    for key in ("a.b", "a:b", "a-b", "A-B"):
        provider.send(MESSAGE, idempotency_key=key)

    assert len(names(provider)) == 8


@pytest.mark.parametrize(
    "changes",
    [
        {"to_email": "nobody"},
        {"to_email": "ann@example.com, bob@example.com"},
        {"to_email": "ann@example.com\nBcc: bob@example.com"},
        {"subject": "Hello\nBcc: bob@example.com"},
        {"subject": "Hello\x0c\x0c<p>Another text</p>"},
        {"subject": "Hello\x1c"},
    ],
)
def test_message_that_cannot_be_sent_is_refused(provider, changes):
    with pytest.raises(MessageRefused):
        provider.send(replace(MESSAGE, **changes), idempotency_key="a")

    assert not provider.folder.exists()


def test_message_is_unavailable_while_the_folder_cannot_be_written(provider):
    provider.folder.write_text("A file is where the folder should be.")

    with pytest.raises(ProviderUnavailable):
        provider.send(MESSAGE, idempotency_key="a")
