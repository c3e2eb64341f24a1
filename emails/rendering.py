"""Renders messages in the lane that suits them, each account in its turn (emails/paces.py)."""

from django.conf import settings

from emails import renderer_client
from emails.lost_renderings import is_suspect, note_loss
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
    """Render a message of an account. No transaction may be open.

    Raises `TemplateRefused`, and `RendererUnavailable` with `OwnTemplatesResting`.
    """
    # The template by its content: once a merchant changes it, it is on trial again.
    kind, is_platforms = (account_id, hash(source)), is_of_platform(source)
    if not is_platforms and is_suspect(account_id):
        note_slow(account_id)
    first_lane = choose_lane(account_id)
    try:
        return _render(message, kind, is_platforms=is_platforms)
    except MessageTooSlow:
        if first_lane is Lane.SLOW:
            raise
    except RendererLost:
        if not is_platforms:
            note_loss(account_id, source)
            raise
    # A slow message goes to the slow lane, where its account has just moved. A platform's template that was lost wasn't
    # to blame, so it stays in its lane.
    return _render(message, kind, is_platforms=is_platforms)


def _render(message: RenderRequest, kind: Kind, *, is_platforms: bool) -> Rendered:
    account_id, _ = kind
    with rendering_turn(kind, is_platforms=is_platforms) as lane:
        try:
            rendered = renderer_client.render(url=settings.RENDERER_URL, message=message, lane=lane)
        except MessageTooSlow:
            note_slow(account_id)
            raise
        except (RendererLate, RendererLost):
            # Merchants can't make the platform's templates slow or deadly: a busy machine was, or another message.
            if not is_platforms:
                note_slow(account_id)
            raise
        except TemplateRefused as refused:
            # A mistake is found quickly, so the template stays on trial no longer. Only what exceeds a limit took long.
            if refused.code in LIMIT_CODES:
                note_slow(account_id)
            else:
                note_pace(kind, 0.0)
            raise
        note_pace(kind, rendered.processor_s)
    return rendered
