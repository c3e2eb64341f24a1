"""Renders one message: its subject, its HTML and its text."""

from collections.abc import Mapping

from emails.renderer.compiled_templates import render_compiled
from emails.renderer.limits import MAX_LINE_CHARACTERS
from emails.renderer.liquid_templates import render_html, render_text
from emails.renderer.message import Message, MjmlWarning, RenderedMessage
from emails.renderer.mjml_compiler import CompiledBody, compile_mjml
from emails.renderer.plain_text import cut_line, extract_text, join_lines, tidy


def render_message(message: Message) -> RenderedMessage:
    """Raises `TemplateSyntaxError`, `TemplateLimitExceeded`, `InvalidMjml`."""
    variables = {"locale": message.locale, **message.ctx}
    lines = {
        name: join_lines(render_text(template, variables, field=f"{name}_template"))
        for name, template in (
            ("subject", message.subject_template),
            ("preheader", message.preheader_template),
        )
        if template is not None
    }
    warnings = [
        MjmlWarning(line=None, tag=name, message=f"Cut to {MAX_LINE_CHARACTERS} characters")
        for name, line in lines.items()
        if len(line) > MAX_LINE_CHARACTERS
    ]
    # A real message may have a longer title than the sample, and the customer still needs it: so it is cut, not refused.
    lines = {name: cut_line(line) for name, line in lines.items()}
    body = _render_body(message, variables, preheader=lines.get("preheader"))
    if message.body_text_template is None:
        text = extract_text(body.html)
    else:
        text = tidy(render_text(message.body_text_template, variables, field="body_text_template"))
    return RenderedMessage(
        html=body.html,
        text=text,
        subject=lines["subject"],
        preheader=lines.get("preheader"),
        warnings=warnings + body.warnings,
    )


def _render_body(message: Message, variables: Mapping[str, object], *, preheader: str | None) -> CompiledBody:
    if message.is_compiled_once and not message.wants_warnings:
        html = render_compiled(message.body_source, variables, preheader=preheader, field="body_source")
        return CompiledBody(html=html, warnings=[])
    # Liquid before MJML, so that loops and conditions may hold whole sections.
    source = render_html(message.body_source, variables, field="body_source")
    # HTML has no NUL, and PostgreSQL doesn't store it. A filter can decode one from `%00`.
    return compile_mjml(
        source.replace("\0", ""),
        preheader=preheader,
        is_trusted=message.is_trusted,
        wants_warnings=message.wants_warnings,
    )
