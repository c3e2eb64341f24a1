"""The current template for a locale, and its history.

In each locale from the requested one to `en`, an account's own template comes before the platform's: an account with
its own English template still sends the platform's German one to Germans.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from django.db.models import F, Func, JSONField, QuerySet, Value

from accounts.queries import current_account
from commerce.queries import get_or_not_found
from commerce.tenancy.scope import current_account_id
from commerce.tenancy.statements import Call, Prepared
from commerce.wording import Wording
from emails.errors import TemplateNotFound
from emails.own_templates.models import EmailTemplateVersion
from emails.template_sources import TemplateSource, find_template, list_locales, load_platform_templates

_TEXTS = ("subject", "preheader", "body_source", "body_text")
_OWN_LOCALES = Prepared(
    """
    SELECT DISTINCT locale FROM email_template_versions WHERE account_id = %s AND template_key = %s
    """,
    reads=True,
)
# A page has up to 250 versions, each with up to a hundred warnings.
MAX_LISTED_WARNINGS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateState:
    """Whose template is current for a locale, and the account's last change of it, if any."""

    template_key: str
    locale: str
    source: Literal["account", "platform"]
    last: EmailTemplateVersion | None

    @property
    def version(self) -> int:
        """The number of the last change, resets included; 0 before the first."""
        return self.last.number if self.last else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentTemplate(TemplateState):
    """The template that customers of a locale get. `text` may be in a near locale."""

    text: TemplateSource


def own_locales_query(template_key: str) -> Call:
    """Finds the locales in which the account in scope has ever changed a template."""
    return _OWN_LOCALES.call([current_account_id(), template_key])


def find_current_template(
    template_key: str,
    *,
    locale: str | None,
    default_locale: str,
    own_locales: Collection[str] | None = None,
) -> TemplateSource:
    """The template of a message for the account in scope. Raises `TemplateNotFound`.

    One statement; none if `own_locales` are known and have no template for the message.
    """
    locales = list_locales(locale, default_locale)
    if own_locales is not None:
        locales = [one for one in locales if one in own_locales]
    latest = _find_latest_versions(template_key, locales) if locales else {}
    return find_template(
        template_key, locale=locale, default_locale=default_locale, own=_read_own_sources(latest)
    )


def get_template(template_key: str, locale: str) -> CurrentTemplate:
    """As `find_current_template`, with its history. Raises `TemplateNotFound`."""
    require_template(template_key)
    default_locale = current_account().default_locale
    latest = _find_latest_versions(template_key, list_locales(locale, default_locale))
    own = _read_own_sources(latest)
    found = find_template(template_key, locale=locale, default_locale=default_locale, own=own)
    return CurrentTemplate(
        template_key=template_key,
        locale=locale,
        source="account" if found.locale in own else "platform",
        last=latest.get(locale),
        text=found,
    )


def list_templates() -> list[TemplateState]:
    """Every template in the platform's locales and those that the account has added. One statement."""
    newest = EmailTemplateVersion.objects.order_by("template_key", "locale", "-number")
    latest = {
        (version.template_key, version.locale): version
        for version in newest.distinct("template_key", "locale").defer("warnings", *_TEXTS)
    }
    # A locale that the account has reset is only listed if the platform has it.
    places = {place for place, version in latest.items() if not version.is_reset}
    places |= {(key, locale) for key, by_locale in load_platform_templates().items() for locale in by_locale}
    return [
        TemplateState(
            template_key=template_key,
            locale=locale,
            source="account" if last and not last.is_reset else "platform",
            last=last,
        )
        for template_key, locale in sorted(places)
        for last in [latest.get((template_key, locale))]
    ]


def require_template(template_key: str) -> None:
    """Raises `TemplateNotFound` for a key that the platform doesn't have."""
    if not load_platform_templates().get(template_key):
        raise TemplateNotFound(Wording("There is no template %(template)s.", template=template_key))


def versions(template_key: str, locale: str) -> QuerySet[EmailTemplateVersion]:
    """The account's changes of a template, without their texts, and with `first_warnings`. Raises `TemplateNotFound`."""
    require_template(template_key)
    first = Func(
        F("warnings"),
        Value(f"$[0 to {MAX_LISTED_WARNINGS - 1}]"),
        function="jsonb_path_query_array",
        template="%(function)s(%(expressions)s::jsonpath)",
        output_field=JSONField(),
    )
    found = EmailTemplateVersion.objects.filter(template_key=template_key, locale=locale)
    return found.annotate(first_warnings=first).defer("warnings", *_TEXTS)


def get_version(template_key: str, locale: str, version_id: int) -> EmailTemplateVersion:
    """One change with its texts. Raises `TemplateNotFound`, `NotFound`."""
    return get_or_not_found(versions(template_key, locale).defer(None), pk=version_id)


def find_last_version(template_key: str, locale: str) -> EmailTemplateVersion | None:
    """The account's last change of a template, without its texts. Raises `TemplateNotFound`."""
    return versions(template_key, locale).order_by("-number").first()


def count_own_locales(template_key: str) -> int:
    """The number of locales in which the account has ever had its own template."""
    # Resets count too: versions are append-only, so the rows stay.
    return EmailTemplateVersion.objects.filter(template_key=template_key).values("locale").distinct().count()


def read_source(version: EmailTemplateVersion) -> TemplateSource:
    return TemplateSource(
        template_key=version.template_key,
        locale=version.locale,
        subject=version.subject,
        body=version.body_source,
        preheader=version.preheader,
        text=version.body_text,
    )


def _find_latest_versions(template_key: str, locales: list[str]) -> dict[str, EmailTemplateVersion]:
    newest = EmailTemplateVersion.objects.filter(template_key=template_key, locale__in=locales)
    return {version.locale: version for version in newest.order_by("locale", "-number").distinct("locale")}


def _read_own_sources(latest: dict[str, EmailTemplateVersion]) -> dict[str, TemplateSource]:
    return {locale: read_source(version) for locale, version in latest.items() if not version.is_reset}
