"""One message: Liquid first, then MJML, then the text."""

from emails.renderer.liquid_templates import render_html, render_text
from emails.renderer.message import Message, RenderedMessage
from emails.renderer.mjml_compiler import compile_mjml
from emails.renderer.plain_text import extract_text, join_lines, tidy


def render_message(message: Message) -> RenderedMessage:
    """Raises `TemplateSyntaxError`, `TemplateLimitExceeded`, `InvalidMjml`."""
    variables = {"locale": message.locale, **message.ctx}
    subject = render_text(message.subject_template, variables, field="subject_template")
    preheader = None
    if message.preheader_template is not None:
        preheader = join_lines(render_text(message.preheader_template, variables, field="preheader_template"))
    # Liquid before MJML, so that loops and conditions may hold whole sections.
    source = render_html(message.body_source, variables, field="body_source")
    body = compile_mjml(source, preheader=preheader)
    if message.body_text_template is None:
        text = extract_text(body.html)
    else:
        text = tidy(render_text(message.body_text_template, variables, field="body_text_template"))
    return RenderedMessage(
        html=body.html,
        text=text,
        subject=join_lines(subject),
        preheader=preheader,
        warnings=body.warnings,
    )
