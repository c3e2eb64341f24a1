"""The task `check_sender_domain`: no transaction is open while name servers are asked."""

from functools import partial

from django.utils import timezone

from commerce.outbox.handlers import Outcome, handles
from commerce.outbox.models import OutboxDispatch
from commerce.outside.deadline import deadline
from commerce.tenancy.scope import account_scope

from .models import SenderDomain
from .operations import WITHIN_S, look_for, note_lookup


class RecordNotSeen(Exception):
    """The name servers gave no answer."""


@handles("check_sender_domain", area="emails")
def check_sender_domain(dispatch: OutboxDispatch) -> Outcome:
    with account_scope(dispatch.account_id):  # type: ignore[arg-type]  # its default makes it look nullable
        row = SenderDomain.objects.get(pk=dispatch.payload["domain_id"])
    with deadline(WITHIN_S):
        failure = look_for(row)
    if failure == SenderDomain.Failure.DNS_UNAVAILABLE:
        raise RecordNotSeen("The name servers gave no answer.")
    return Outcome(record=partial(note_lookup, row.pk, failure, now=timezone.now()))
