import string

from commerce import tokens
from commerce.tokens import generate_base62, generate_token


def test_tokens_have_32_characters_of_base62_and_differ():
    found = {generate_token() for _ in range(1000)}

    assert len(found) == 1000
    assert {len(token) for token in found} == {32}
    assert set("".join(found)) == set(string.digits + string.ascii_letters)


def test_all_bytes_give_each_character_equally_often(monkeypatch):
    monkeypatch.setattr(tokens.secrets, "token_bytes", lambda _: bytes(range(256)))

    assert sorted(generate_base62(4 * 62)) == sorted(4 * (string.digits + string.ascii_letters))


def test_text_is_completed_when_many_bytes_are_dropped(monkeypatch):
    sent = iter([b"\x3e\x3f\x00", b"\x01\xff\x02"])
    monkeypatch.setattr(tokens.secrets, "token_bytes", lambda _: next(sent))

    assert generate_base62(3) == "012"
