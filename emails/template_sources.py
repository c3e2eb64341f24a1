"""The platform's templates: one folder for each kind of email, with its texts in one file for each locale.

`body.mjml` and `body.txt` are written once. Their `${name}` is replaced by that text of the locale, and the result is
put into the layout that all kinds share. What comes out is Liquid, which the renderer fills in for each email.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from types import MappingProxyType

from django.conf import settings

from accounts.models import Account
from commerce.mail import email_folders
from commerce.wording import Wording
from emails.errors import TemplateNotFound
from emails.renderer_client import RenderRequest

FALLBACK_LOCALE = "en"

# Templates in which Liquid doesn't change how MJML lays out what it leaves (emails/renderer/compiled_templates.py).
COMPILED_ONCE = {"order.cancelled", "order.confirmation", "order.shipped", "voucher.issued"}

_CONTENT = "${content}"
_TAG = re.compile("<[^>]*>")


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateSource:
    """The Liquid templates of an email in one locale. `body` becomes MJML; without `text`, the text is made of it."""

    template_key: str
    locale: str
    subject: str
    body: str
    preheader: str | None
    text: str | None


def find_template(
    template_key: str,
    *,
    locale: str | None,
    default_locale: str,
    own: Mapping[str, TemplateSource] = MappingProxyType({}),
) -> TemplateSource:
    """The template in the nearest locale. In each locale, one of the account's `own` comes before the platform's.

    Raises `TemplateNotFound`.
    """
    # The account's own replace the platform's of the same locale.
    by_locale = {**load_platform_templates().get(template_key, {}), **own}
    for candidate in list_locales(locale, default_locale):
        if candidate in by_locale:
            return by_locale[candidate]
    raise TemplateNotFound(Wording("There is no template %(template)s.", template=template_key))


def list_locales(locale: str | None, default_locale: str) -> list[str]:
    """The locale, its language, the account's default, its language, `en`; each once."""
    wanted = [
        name for given in (locale, default_locale) if given for name in (given, given.partition("-")[0])
    ]
    return list(dict.fromkeys([*wanted, FALLBACK_LOCALE]))


def load_platform_templates() -> dict[str, dict[str, TemplateSource]]:
    """Every template of the platform by its key and locale, read once in each process."""
    return _read_templates(tuple(settings.EMAIL_FOLDERS))


def is_of_platform(source: TemplateSource) -> bool:
    return load_platform_templates().get(source.template_key, {}).get(source.locale) == source


def prepare_rendering(source: TemplateSource, ctx: dict[str, object], *, account: Account) -> RenderRequest:
    """Build the renderer's request for an email. All templates may use `account`, besides the variables in `ctx`."""
    variables = {"name": account.name, "timezone": account.default_timezone}
    body = source.body
    # A body without `<mjml>` goes into the shared layout, in the nearest locale that the platform has texts for.
    if "<mjml" not in body:
        near = find_template(source.template_key, locale=source.locale, default_locale=account.default_locale)
        texts = _read_texts(email_folders()[source.template_key], near.locale) | {"locale": source.locale}
        before, after = _read_layout("layout.mjml", texts)
        # On one line, so that errors name lines as the author counts them.
        body = before.replace("\n", " ") + body + after
    is_trusted = is_of_platform(source)
    return RenderRequest(
        body_source=body,
        subject_template=source.subject,
        preheader_template=source.preheader,
        body_text_template=source.text,
        ctx={"account": variables} | ctx,
        locale=source.locale,
        is_trusted=is_trusted,
        is_compiled_once=is_trusted and source.template_key in COMPILED_ONCE,
    )


# The argument is only for the cache: tests set other folders.
@cache
def _read_templates(_parents: tuple[Path, ...]) -> dict[str, dict[str, TemplateSource]]:
    return {
        key: {path.stem: _read_template(folder, path.stem) for path in sorted(folder.glob("*.toml"))}
        for key, folder in email_folders().items()
    }


def _read_template(folder: Path, locale: str) -> TemplateSource:
    texts = _read_texts(folder, locale)
    # The texts of a locale may have tags such as <strong>, which mean nothing in the text part.
    plain = {name: _TAG.sub("", text) for name, text in texts.items()}
    # `${HEADING}` in body.txt is the text `heading` in capitals.
    plain = {name.upper(): text.upper() for name, text in plain.items()} | plain
    # Liquid at the top of both bodies.
    plain["variables"] = texts["variables"]
    return TemplateSource(
        template_key=folder.name,
        locale=locale,
        subject=texts["subject"],
        preheader=texts["preheader"],
        body=_compose("layout.mjml", folder / "body.mjml", texts),
        text=_compose("layout.txt", folder / "body.txt", plain),
    )


def _compose(layout: str, body: Path, texts: dict[str, str]) -> str:
    before, after = _read_layout(layout, texts)
    return before + Template(body.read_text("utf-8").rstrip("\n")).substitute(texts) + after


def _read_layout(name: str, texts: dict[str, str]) -> tuple[str, str]:
    """The layout with its texts, before and after the content."""
    # The first folder is the platform's own; others only add kinds of email.
    before, _, after = (settings.EMAIL_FOLDERS[0] / name).read_text("utf-8").partition(_CONTENT)
    return Template(before).substitute(texts), Template(after).substitute(texts)


@cache
def _read_texts(folder: Path, locale: str) -> dict[str, str]:
    variables = folder / "variables.liquid"
    texts: dict[str, str] = tomllib.loads((folder / f"{locale}.toml").read_text("utf-8"))
    shared = variables.read_text("utf-8") if variables.exists() else ""
    return texts | {"locale": locale, "variables": shared}
