"""Renders messages in the lane that suits them, each account in its turn (emails/paces.py)."""

from django.conf import settings

from emails import renderer_client
from emails.paces import Kind, Lane, choose_lane, note_pace, note_slow, rendering_turn
from emails.renderer_client import (
    MessageTooSlow,
    Rendered,
    RendererLate,
    RendererLost,
    RenderRequest,
    TemplateRefused,
)
from emails.shortening import LIMIT_CODES
from emails.template_sources import TemplateSource, is_of_platform


def render_in_turn(message: RenderRequest, *, account_id: int, source: TemplateSource) -> Rendered:
    """Render a message of an account. No transaction may be open. Raises `TemplateRefused`, `RendererUnavailable`."""
    # The template by its content: once a merchant changes it, it is on trial again.
    kind, first_lane = (account_id, hash(source)), choose_lane(account_id)
    try:
        return _render(message, kind, is_platforms=is_of_platform(source))
    except (MessageTooSlow, RendererLost):
        if first_lane is Lane.SLOW:
            raise
    # The account has just moved to the slow lane.
    return _render(message, kind)


def _render(message: RenderRequest, kind: Kind, *, is_platforms: bool = False) -> Rendered:
    account_id, _ = kind
    with rendering_turn(kind, is_platforms=is_platforms) as lane:
        try:
            rendered = renderer_client.render(url=settings.RENDERER_URL, message=message, lane=lane)
        except (MessageTooSlow, RendererLate, RendererLost):
            note_slow(account_id)
            raise
        except TemplateRefused as refused:
            # A mistake is found quickly; only what exceeds a limit took long.
            if refused.code in LIMIT_CODES:
                note_slow(account_id)
            raise
        note_pace(kind, rendered.processor_s)
    return rendered
