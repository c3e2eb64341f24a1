from django.db.models import QuerySet

from commerce.errors import NotFound
from commerce.outbox.models import OutboxDispatch


def dispatches(*, status: str | None = None, task_name: str | None = None) -> QuerySet[OutboxDispatch]:
    """The dispatches of the account in scope, without the messages rendered for them."""
    found = OutboxDispatch.objects.defer("message")
    if status is not None:
        found = found.filter(status=status)
    if task_name is not None:
        found = found.filter(target__task_name=task_name)
    return found


def get_dispatch(dispatch_id: int) -> OutboxDispatch:
    """A dispatch of the account in scope; raises `NotFound`."""
    dispatch = dispatches().filter(pk=dispatch_id).first()
    if dispatch is None:
        raise NotFound
    return dispatch
