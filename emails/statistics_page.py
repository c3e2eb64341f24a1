"""Email statistics in the back office: a page, and a panel of the overview."""

from collections.abc import Sequence
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import action

from commerce.backoffice.charts import Chart, build_chart
from commerce.backoffice.options import ReadOnlyAdmin
from commerce.backoffice.panels import Panel, register_panel

from .statistics import DAYS, DayFigures, count_by_day

# Fields of `DayFigures`, with titles and classes of the back office's style sheet.
_SERIES = {
    "sent": (gettext_lazy("Sent"), "text-primary-600"),
    "delivered": (gettext_lazy("Delivered"), "text-green-700"),
    "opened": (gettext_lazy("Opened"), "text-blue-700"),
    "bounced": (gettext_lazy("Bounced"), "text-red-600"),
}


class StatisticsPage(ReadOnlyAdmin):
    """Adds the page to the model admin of deliveries, with a button on the list."""

    actions_list = ("statistics",)

    @action(
        description=gettext_lazy("Statistics"), permissions=["view"], icon="bar_chart", url_path="statistics"
    )
    def statistics(self, request: HttpRequest) -> HttpResponse:
        figures = count_by_day(now=timezone.now())
        context = {
            **self.admin_site.each_context(request),
            "title": _("Emails of the last %(days)s days") % {"days": DAYS},
            "opts": self.opts,
            "charts": _build_charts(figures),
            "figures": figures[::-1],
        }
        return TemplateResponse(request, "backoffice/email_statistics.html", context)


@register_panel(area="emails")
def _build_panel(now: datetime) -> Panel:
    content = {"charts": _build_charts(count_by_day(now=now)), "days": DAYS}
    return Panel(template="backoffice/email_panel.html", content=content)


def _build_charts(figures: Sequence[DayFigures]) -> list[Chart]:
    return [
        build_chart(str(title), [(one.day, getattr(one, name)) for one in figures], colour=colour)
        for name, (title, colour) in _SERIES.items()
    ]
