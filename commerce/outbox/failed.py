"""Work that failed for good: a filter of the list of dispatches, and tasks for the overview and the navigation."""

from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from commerce.backoffice.figures import Task, register_task
from commerce.backoffice.filters import ChoiceFilter

from .models import OutboxDispatch

_DEAD = Q(status=OutboxDispatch.Status.DEAD)
# The task of commerce/mail.py, which stands above this package.
_MAIL = Q(target__task_name="send_email")

FAILED_EMAILS = _DEAD & _MAIL
FAILED_OTHERS = _DEAD & ~_MAIL
_PAGE = "outbox.outboxdispatch"


class FailedFilter(ChoiceFilter):
    """Dispatches that failed for good: emails, or anything else."""

    title = gettext_lazy("failed for good")
    parameter_name = "failed"

    def list_conditions(self) -> dict[str, tuple[str, Q]]:
        return {"emails": (_("Emails"), FAILED_EMAILS), "others": (_("Other work"), FAILED_OTHERS)}


register_task(
    Task(
        title=gettext_lazy("Emails that failed"),
        icon="mark_email_unread",
        page=_PAGE,
        query={"failed": "emails"},
        condition=FAILED_EMAILS,
        position=50,
        is_alarming=True,
    )
)
register_task(
    Task(
        title=gettext_lazy("Other work that failed"),
        icon="report",
        page=_PAGE,
        query={"failed": "others"},
        condition=FAILED_OTHERS,
        position=60,
        is_alarming=True,
    )
)
