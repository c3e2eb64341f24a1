import base64
from datetime import UTC, datetime

from commerce.webhooks.messages import Message, make_secret, make_signed_headers

# The example of the specification of Standard Webhooks.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
MESSAGE = Message(id="msg_p5jXN8AQM9LWM0D4loKWxJek", type="test", body=b'{"test": 2432232314}')
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
NOW = datetime.fromtimestamp(1614265330, UTC)


def test_message_is_signed_as_the_standard_has_it():
    assert make_signed_headers(MESSAGE, keys=[SECRET], now=NOW) == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": SIGNATURE,
    }


def test_message_has_a_signature_of_each_key():
    other = make_secret()

    headers = make_signed_headers(MESSAGE, keys=[other, SECRET], now=NOW)

    first, second = headers["webhook-signature"].split(" ")
    assert first != second == SIGNATURE


def test_secrets_are_32_random_bytes():
    first, second = make_secret(), make_secret()

    assert first != second
    assert first.startswith("whsec_")
    assert len(base64.b64decode(first.removeprefix("whsec_"), validate=True)) == 32
