"""Templates that staff write, rendered while they wait; no transaction may be open."""

import logging
import random
import time
from contextlib import suppress
from dataclasses import replace

from django.conf import settings

from accounts.models import Account
from commerce.errors import FieldError, TooManyOutsideCalls
from commerce.outside.deadline import Deadline
from commerce.waiting import Call, waiting_call
from commerce.wording import Wording
from emails import renderer_client
from emails.errors import RendererFailed, TemplateInvalid, TemplatesResting
from emails.lost_renderings import OwnTemplatesResting, is_suspect, note_loss
from emails.paces import Lane
from emails.renderer_client import (
    Rendered,
    RendererBusy,
    RendererLost,
    RendererUnavailable,
    RenderRequest,
    TemplateRefused,
)
from emails.template_sources import TemplateSource, is_of_platform, prepare_rendering

# While a person waits for the page.
WITHIN_S = 6
# A draft is not started with less time than this.
RENDERING_S = 3
# Half of what the renderer allows: a real message may have more data than the sample.
MAX_PROCESSOR_S = 0.5

logger = logging.getLogger(__name__)

# The renderer's names for the parts of a template, and the API's.
_NAMES = {
    "subject_template": "subject",
    "preheader_template": "preheader",
    "body_source": "body_source",
    "body_text_template": "body_text",
    "ctx": "ctx",
}


def render_draft(*, account: Account, source: TemplateSource, ctx: dict[str, object]) -> Rendered:
    """Render a draft, as a page waits for it.

    Raises `TemplateInvalid`, which names the part and the line, `TemplatesResting`, `RendererFailed` and
    `TooManyOutsideCalls`.
    """
    is_platforms = is_of_platform(source)
    if not is_platforms:
        _check_rest(account)
    message = replace(prepare_rendering(source, ctx, account=account), wants_warnings=True)
    try:
        with waiting_call(Call.PREVIEW, account.pk, within_s=WITHIN_S) as limit:
            rendered = _render_when_free(message, limit)
    except TemplateRefused as refused:
        # A limit on the whole message names no part, nor does the MJML compiler: it is the body then.
        field = _NAMES.get(refused.field or "", "body_source")
        detail = refused.detail.removeprefix(f"{refused.field}: ")
        raise _build_refusal(field, refused.code, detail, line=refused.line) from refused
    except RendererBusy as busy:
        raise TooManyOutsideCalls from busy
    except RendererUnavailable as error:
        if isinstance(error, RendererLost) and not is_platforms:
            # A second loss is refused like the first.
            with suppress(TemplateRefused):
                note_loss(account.pk, source)
            detail = "Rendering it ended a process of the renderer."
            raise _build_refusal("body_source", "template_limit_exceeded", detail) from error
        logger.warning("The renderer failed", exc_info=True)
        raise RendererFailed("The rendering service did not answer. Try again shortly.") from error
    if rendered.processor_s > MAX_PROCESSOR_S:
        detail = Wording(
            "Rendering took %(seconds)s s of processor time. With this data a template may take %(limit)s s.",
            seconds=f"{rendered.processor_s:.2f}",
            limit=f"{MAX_PROCESSOR_S:g}",
        )
        raise _build_refusal("body_source", "template_limit_exceeded", detail)
    return rendered


def _render_when_free(message: RenderRequest, limit: Deadline) -> Rendered:
    """Render in the slow lane, where the renderer takes one message at a time: ask until it is free."""
    while True:
        try:
            # All drafts go there, because nothing is known about how long they take.
            return renderer_client.render(url=settings.RENDERER_URL, message=message, lane=Lane.SLOW)
        except RendererBusy:
            if limit.left_s < RENDERING_S:
                raise
            # Random, so that drafts that wait don't ask all at once.
            time.sleep(random.uniform(0.1, 0.3))  # noqa: S311  no secret


def _check_rest(account: Account) -> None:
    try:
        is_suspect(account.pk)
    except OwnTemplatesResting as resting:
        raise TemplatesResting.build(resting.left_s) from resting


def _build_refusal(field: str, code: str, detail: str, *, line: int | None = None) -> TemplateInvalid:
    return TemplateInvalid(f"{field}: {detail}", errors=(FieldError(field, code, detail),), line=line)
