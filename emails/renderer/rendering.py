"""One message: Liquid first, then MJML, then the text."""

from emails.renderer.liquid_templates import render_html, render_text
from emails.renderer.message import Message, RenderedMessage
from emails.renderer.mjml_compiler import compile_mjml
from emails.renderer.plain_text import single_line, text_of_html, tidy


def render_message(message: Message) -> RenderedMessage:
    """Raises `TemplateSyntaxError`, `TemplateLimitExceeded`, `InvalidMjml`."""
    variables = {"locale": message.locale, **message.ctx}
    subject = render_text(message.subject_template, variables, field="subject_template")
    preheader = None
    if message.preheader_template is not None:
        preheader = single_line(
            render_text(message.preheader_template, variables, field="preheader_template")
        )
    source = render_html(message.body_source, variables, field="body_source")
    body = compile_mjml(source, preheader=preheader)
    if message.body_text_template is None:
        text = text_of_html(body.html)
    else:
        text = tidy(render_text(message.body_text_template, variables, field="body_text_template"))
    return RenderedMessage(
        html=body.html,
        text=text,
        subject=single_line(subject),
        preheader=preheader,
        warnings=body.warnings,
    )
