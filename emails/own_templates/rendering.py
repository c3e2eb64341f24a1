"""Templates that staff write, rendered while they wait; no transaction may be open."""

import logging
import random
import time
from typing import Any

from accounts.models import Account
from commerce.errors import FieldError
from commerce.outside.deadline import Deadline
from commerce.waiting import Call, too_many, waiting_call
from emails.errors import RendererFailed, TemplateInvalid
from emails.messages import render_source
from emails.renderer_client import Rendered, RendererBusy, RendererUnavailable, TemplateRefused
from emails.template_sources import TemplateSource

WITHIN_S = 6
# What is left of that time for a draft whose turn has come.
RENDERING_S = 3
# Half of what the renderer allows: a message that is sent may have more data.
MAX_PROCESSOR_S = 0.5

logger = logging.getLogger(__name__)

# What the renderer calls a part of a template, by what the interface calls it.
_NAMES = {
    "subject_template": "subject",
    "preheader_template": "preheader",
    "body_source": "body_source",
    "body_text_template": "body_text",
    "ctx": "ctx",
}


def render_draft(*, account: Account, source: TemplateSource, ctx: dict[str, Any]) -> Rendered:
    """Raises `TemplateInvalid`, which names the part and the line, `RendererFailed` and `TooManyOutsideCalls`."""
    try:
        with waiting_call(Call.PREVIEW, account.pk, within_s=WITHIN_S) as limit:
            rendered = _rendered(account, source, ctx, limit)
    except TemplateRefused as refused:
        raise _invalid(refused) from refused
    except RendererBusy as busy:
        raise too_many() from busy
    except RendererUnavailable as error:
        logger.warning("The renderer failed", exc_info=True)
        raise RendererFailed("The rendering service gave no answer; try again shortly.") from error
    if rendered.processor_s > MAX_PROCESSOR_S:
        raise _too_slow(rendered.processor_s)
    return rendered


def _rendered(account: Account, source: TemplateSource, ctx: dict[str, Any], limit: Deadline) -> Rendered:
    """Drafts are rendered one at a time: wait for a turn."""
    while True:
        try:
            return render_source(account=account, source=source, ctx=ctx, is_draft=True)
        except RendererBusy:
            if limit.left_s < RENDERING_S:
                raise
            time.sleep(random.uniform(0.1, 0.3))  # noqa: S311  no secret


def _too_slow(took_s: float) -> TemplateInvalid:
    detail = (
        f"Rendering took {took_s:.2f} s of processor time, more than the {MAX_PROCESSOR_S:g} s that a template may "
        "take with this data."
    )
    error = FieldError("body_source", "template_limit_exceeded", detail)
    return TemplateInvalid(f"body_source: {detail}", errors=(error,))


def _invalid(refused: TemplateRefused) -> TemplateInvalid:
    """The compiler of MJML, and limits on a message as a whole, name no part: it is the body then."""
    field = _NAMES.get(refused.field or "", "body_source")
    detail = refused.detail.removeprefix(f"{refused.field}: ")
    return TemplateInvalid(
        f"{field}: {detail}", errors=(FieldError(field, refused.code, detail),), line=refused.line
    )
