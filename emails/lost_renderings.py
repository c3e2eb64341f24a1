"""Remembers the accounts whose own templates ended a process of the renderer. Kept in Redis, for all processes.

Their own templates rest for some minutes then, drafts too, and use the slow lane for an hour, one message at a time. A
template that ends another process within the hour is refused. Without Redis, nothing is remembered.

No template is known to do that: the renderer refuses what costs too much. This is for one that finds another way.
"""

import logging

import redis

from commerce.attempts import digest
from commerce.redis import client
from emails.renderer_client import RendererBusy, TemplateRefused
from emails.template_sources import TemplateSource

# For a merchant to notice, and for others to have a renderer meanwhile.
REST_S = 300
REMEMBERED_S = 3600

logger = logging.getLogger(__name__)


class OwnTemplatesResting(RendererBusy):
    """The account's own templates aren't rendered for another `left_s` seconds."""

    def __init__(self, left_s: int) -> None:
        super().__init__(
            "A template of the account ended a process of the renderer, so its own templates rest."
        )
        self.left_s = left_s


def is_suspect(account_id: int) -> bool:
    """Whether one of the account's own templates ended a process within the hour. Raises `OwnTemplatesResting`."""
    try:
        # Negative without the key.
        left_s = int(client().ttl(_build_account_key(account_id)))
    except redis.RedisError:
        return False
    rest_s = left_s - (REMEMBERED_S - REST_S)
    if rest_s > 0:
        raise OwnTemplatesResting(rest_s)
    return left_s >= 0


def note_loss(account_id: int, source: TemplateSource) -> None:
    """Note that rendering one of the account's own templates ended a process.

    Raises `TemplateRefused` if the template has done so before.
    """
    logger.warning("Account %s: the template %s ended a renderer", account_id, source.template_key)
    account_key = _build_account_key(account_id)
    # By its content: once the merchant has changed the template, it starts over.
    template_key = f"{account_key}:{digest(repr(source))}"
    try:
        with client().pipeline() as pipe:
            pipe.set(account_key, 1, ex=REMEMBERED_S)
            pipe.incr(template_key)
            pipe.expire(template_key, REMEMBERED_S)
            _, losses, _ = pipe.execute()
    except redis.RedisError as error:
        logger.warning("Lost renderings are not remembered: Redis does not answer (%s)", error)
        return
    if losses > 1:
        raise TemplateRefused(
            code="worker_lost", detail="Rendering ended a process of the renderer again.", line=None
        )


def _build_account_key(account_id: int) -> str:
    return f"renderer:lost:{account_id}"
