"""Shows a message to staff."""

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

# A message is untrusted: it may neither run scripts nor load anything in the back office. The sandbox of the frame alone
# would let it load images, whose server would learn that the message was read, and from where.
_POLICY = (
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">"
)


def build_message_frame(html: str) -> SafeString:
    """The HTML of a message in a sandboxed frame."""
    return format_html(
        '<iframe sandbox srcdoc="{}" title="{}" '
        'style="width: 100%; height: 70vh; border: 0; background: white"></iframe>',
        _POLICY + html,
        _("Message"),
    )
