"""Numbers on the overview and in the navigation, contributed by apps. Each leads to the list that it counts."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.apps import apps
from django.contrib import admin
from django.contrib.admin import ModelAdmin
from django.db.models import CharField, Q, QuerySet, Value
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.http import urlencode

from commerce.backoffice.display import format_count

from .days import Period
from .lists import COUNTED, BoundedPaginator

# The navigation shows larger numbers as "99+".
MOST_IN_NAVIGATION = 99


@dataclass(frozen=True, slots=True)
class Window:
    """The days that the overview shows, in the shop's time zone. It compares them with as many days before."""

    now: datetime
    zone: ZoneInfo
    period: Period

    @property
    def today(self) -> date:
        return self.now.astimezone(self.zone).date()


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number on the overview: `text` is shown, and `count` is the number of rows of the list behind the link.

    `page` is the model of the list, such as `orders.order`, and `query` has its filters. `before` is the text of the
    period before.
    """

    title: str
    text: str
    count: int
    page: str
    query: Mapping[str, str | int] = field(default_factory=dict)
    before: str = ""
    note: str = ""

    @property
    def link(self) -> str:
        return link_to_list(self.page, self.query)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Rows that wait for a member: `condition` finds them on the list of `page` that the filters in `query` show.

    Tasks are shown by `position`, the lowest first. `is_alarming` means that there should be none.
    `is_counted_everywhere` means that an index finds them, so that the navigation can count them on every page.
    """

    title: str | Promise
    icon: str
    page: str
    query: Mapping[str, str | int]
    condition: Q
    position: int
    is_alarming: bool = False
    is_counted_everywhere: bool = True

    @property
    def link(self) -> str:
        return link_to_list(self.page, self.query, is_counted=False)


@dataclass(frozen=True, slots=True)
class CountedTask:
    task: Task
    text: str
    count: int

    @property
    def is_alarming(self) -> bool:
        return self.task.is_alarming and self.count > 0


# Reads rows of the account in scope, in a fixed number of statements.
FigureMaker = Callable[[Window], Iterable[Figure]]

_makers: list[tuple[str, FigureMaker]] = []
_tasks: list[Task] = []


def register_figures(page: str) -> Callable[[FigureMaker], FigureMaker]:
    """Register figures for members who may see the list of a model, such as `carts.cart`.

    Apps import the registering module in their `ready()`.
    """

    def register(maker: FigureMaker) -> FigureMaker:
        _makers.append((page, maker))
        return maker

    return register


def register_task(task: Task) -> Task:
    """Register work for the overview and the navigation. Apps import the registering module in their `ready()`."""
    _tasks.append(task)
    return task


def make_figures(request: HttpRequest, window: Window) -> list[Figure]:
    """Make the figures that the member may see."""
    return [figure for page, maker in _makers if may_view(request, page) for figure in maker(window)]


def list_tasks(request: HttpRequest) -> list[Task]:
    """The tasks whose lists the member may see."""
    tasks = sorted(_tasks, key=lambda task: task.position)
    return [task for task in tasks if may_view(request, task.page)]


def count_tasks(request: HttpRequest) -> list[CountedTask]:
    """Count each task as its list does, with one statement for each."""
    return [_count_task(request, task) for task in list_tasks(request)]


def count_tasks_for_navigation(request: HttpRequest) -> dict[str, int]:
    """Count the tasks by link, up to one more than `MOST_IN_NAVIGATION`, with one statement for all."""
    tasks = [task for task in list_tasks(request) if task.is_counted_everywhere]
    if not tasks:
        return {}
    parts = [
        _find_rows(request, task)
        .order_by()
        .annotate(task_link=Value(task.link, output_field=CharField()))
        .values_list("task_link", flat=True)[: MOST_IN_NAVIGATION + 1]
        for task in tasks
    ]
    found: Any = parts[0].union(*parts[1:], all=True)
    counts = dict.fromkeys((task.link for task in tasks), 0)
    for link in found:
        counts[link] += 1
    return counts


def may_view(request: HttpRequest, page: str) -> bool:
    """Whether the member may see the list of a model."""
    return _get_admin(page).has_view_permission(request)


def link_to_list(page: str, query: Mapping[str, str | int], *, is_counted: bool = True) -> str:
    """The address of a filtered list. If `is_counted`, it shows the exact number of its rows."""
    path = reverse(f"admin:{page.replace('.', '_')}_changelist")
    parameters = {**query, COUNTED: "1"} if is_counted else query
    return f"{path}?{urlencode(parameters)}" if parameters else path


def _count_task(request: HttpRequest, task: Task) -> CountedTask:
    counter = BoundedPaginator(_find_rows(request, task), 1)
    text = f"{format_count(counter.count)}+" if counter.has_more else format_count(counter.count)
    return CountedTask(task, text, counter.count)


def _find_rows(request: HttpRequest, task: Task) -> QuerySet:
    # The rows as the list shows them: a member may not see all of them.
    return _get_admin(task.page).get_queryset(request).filter(task.condition)


def _get_admin(page: str) -> ModelAdmin:
    return admin.site._registry[apps.get_model(page)]  # noqa: SLF001  Django's own templates read it
