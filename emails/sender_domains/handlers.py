"""The task `check_sender_domain`. No transaction is open during the lookup."""

from functools import partial

from django.utils import timezone

from commerce.outbox.handlers import Outcome, handles, open_scope
from commerce.outbox.models import OutboxDispatch
from commerce.outside.deadline import deadline

from .models import SenderDomain
from .operations import WITHIN_S, look_up_record, note_lookup


class RecordNotSeen(Exception):
    """The name servers didn't answer. Raised for a retry."""


@handles("check_sender_domain", area="emails")
def check_sender_domain(dispatch: OutboxDispatch) -> Outcome:
    with open_scope(dispatch):
        row = SenderDomain.objects.get(pk=dispatch.payload["domain_id"])
    with deadline(WITHIN_S):
        failure = look_up_record(row)
    # Not recorded as a result: the outbox tries again, and a verified domain stays so meanwhile.
    if failure == SenderDomain.Failure.DNS_UNAVAILABLE:
        raise RecordNotSeen("The name servers did not answer.")
    return Outcome(record=partial(note_lookup, row.pk, failure, now=timezone.now()))
