"""Parts of a customer's page in the back office, which other apps contribute."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from commerce.backoffice.figures import link_to_list, may_view
from commerce.backoffice.timeline import TimelineEntry, list_staff_entries

from .models import Customer

# Rows of a part. The link below it leads to all.
MOST_ROWS = 10


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a part: the text of its link, the address, and the other cells."""

    title: str
    link: str
    cells: Sequence[object] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A table about a customer. `link` leads to the whole list, and `entries` are for the timeline."""

    title: str
    headers: Sequence[str]
    rows: Sequence[Row]
    link: str = ""
    entries: Sequence[TimelineEntry] = field(default_factory=tuple)


# Its number of statements must not depend on how many rows there are.
SectionMaker = Callable[[Customer], Section]

_makers: list[tuple[str, SectionMaker]] = []


def register_section(page: str) -> Callable[[SectionMaker], SectionMaker]:
    """Register a part for members who may see the list of a model, such as `orders.order`.

    Apps import the registering module with their admin.
    """

    def register(maker: SectionMaker) -> SectionMaker:
        _makers.append((page, maker))
        return maker

    return register


def make_sections(request: HttpRequest, customer: Customer) -> list[Section]:
    """Make the parts that the member may see."""
    return [maker(customer) for page, maker in _makers if may_view(request, page)]


def build_timeline(customer: Customer, sections: Sequence[Section]) -> list[TimelineEntry]:
    """Return the latest entries, newest first."""
    entries = [entry for section in sections for entry in section.entries]
    entries += list_staff_entries(customer)
    entries.append(TimelineEntry(at=customer.created_at, title=_("Created")))
    if customer.redacted_at is not None:
        entries.append(TimelineEntry(at=customer.redacted_at, title=_("Personal data erased")))
    return sorted(entries, key=lambda entry: entry.at, reverse=True)


def link_to_row(page: str, pk: int) -> str:
    """The address of a row's page."""
    return reverse(f"admin:{page.replace('.', '_')}_change", args=[pk])


def link_to_all(page: str, **query: str | int) -> str:
    """The address of a list with these filters."""
    return link_to_list(page, query, is_counted=False)
