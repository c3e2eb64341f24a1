"""Templates that staff write, rendered while they wait; no transaction may be open."""

import logging
from typing import Any

from accounts.models import Account
from commerce.errors import FieldError
from commerce.rest.waiting import Call, waiting_call
from emails.errors import RendererFailed, TemplateInvalid
from emails.messages import render_source
from emails.renderer_client import Rendered, RendererUnavailable, TemplateRefused
from emails.template_sources import TemplateSource

# Longer than the renderer may take for one message.
WITHIN_S = 6

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
        with waiting_call(Call.PREVIEW, account.pk, within_s=WITHIN_S):
            return render_source(account=account, source=source, ctx=ctx)
    except TemplateRefused as refused:
        raise _invalid(refused) from refused
    except RendererUnavailable as error:
        logger.warning("The renderer failed", exc_info=True)
        raise RendererFailed("The rendering service gave no answer; try again shortly.") from error


def _invalid(refused: TemplateRefused) -> TemplateInvalid:
    """The compiler of MJML, and limits on a message as a whole, name no part: it is the body then."""
    field = _NAMES.get(refused.field or "", "body_source")
    detail = refused.detail.removeprefix(f"{refused.field}: ")
    return TemplateInvalid(
        f"{field}: {detail}", errors=(FieldError(field, refused.code, detail),), line=refused.line
    )
