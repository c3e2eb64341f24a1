"""Rules of accounts' own templates, used by every interface."""

from dataclasses import replace

from commerce.rules import Fields, email, integer, json_object, nullable, text
from emails.template_sources import TemplateSource

# Together they leave room in the renderer's 256 KiB for the variables of an order with 500 lines.
MAX_BODY_SOURCE = 64 * 1024
MAX_BODY_TEXT = 24 * 1024
# The same for previews, tests and sent messages, so that whatever is sent can be previewed.
MAX_CTX_BYTES = 128 * 1024
MAX_CTX_NODES = 20_000
MAX_LINE = 1000
MAX_NOTE = 500
MAX_VERSION = 2**31 - 2

CHANGE = Fields(
    required={"expected_version": integer(max_value=MAX_VERSION)},
    optional={"note": nullable(text(MAX_NOTE))},
)
# A template's variables, except `account`.
CTX = json_object(max_bytes=MAX_CTX_BYTES, max_nodes=MAX_CTX_NODES)
TEST_MESSAGE = Fields(required={"to_email": email}, optional={"ctx": nullable(CTX)})

_TEMPLATE = Fields(
    required={
        "subject": text(MAX_LINE),
        "preheader": nullable(text(MAX_LINE)),
        "body_source": text(MAX_BODY_SOURCE, is_trimmed=False),
        "body_text": nullable(text(MAX_BODY_TEXT, is_trimmed=False)),
    }
)


def check_draft(draft: TemplateSource) -> TemplateSource:
    """Check a draft, and return it as it is stored. Raises `ValidationFailed`."""
    kept = _TEMPLATE.check(
        {
            "subject": draft.subject,
            "preheader": draft.preheader,
            "body_source": draft.body,
            "body_text": draft.text,
        }
    )
    return replace(
        draft,
        subject=kept["subject"],
        preheader=kept["preheader"],
        body=kept["body_source"],
        text=kept["body_text"],
    )
