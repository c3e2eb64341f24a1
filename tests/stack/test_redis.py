from pathlib import Path

import pytest
import redis

from config.stack.ports import find_free_port
from config.stack.redis import RedisServer


def test_key_survives_a_killed_server(place: Path, started):
    server = RedisServer(data_dir=place / "redis", port=find_free_port(), password="secret")
    service = started(server.service(log=place / "log"))
    service.wait_until_ready(seconds=20)
    with redis.Redis.from_url(server.url()) as client:
        client.set("kept", "7")

    service.kill()
    service.start()
    service.wait_until_ready(seconds=20)

    with redis.Redis.from_url(server.url()) as client:
        assert client.get("kept") == b"7"


def test_server_wants_the_password_and_hides_it(place: Path, started):
    server = RedisServer(data_dir=place / "redis", port=find_free_port(), password="secret")
    service = started(server.service(log=place / "log"))
    service.wait_until_ready(seconds=20)

    with redis.Redis(port=server.port, retry=None) as client, pytest.raises(redis.AuthenticationError):
        client.ping()
    assert not any("secret" in argument for argument in service.command)
    assert (server.data_dir / "redis.conf").stat().st_mode & 0o777 == 0o600
