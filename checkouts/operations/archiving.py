"""End a shop's checkouts when it is archived."""

from datetime import datetime

from accounts.archiving import first_on_archiving
from checkouts.models import Checkout
from checkouts.phases import OPEN_PHASES
from checkouts.queries import is_at_gateway
from commerce.tenancy.locks import lock

from .abandonment import ENDED_COLUMNS, abandon_checkouts


@first_on_archiving
def end_checkouts(now: datetime) -> None:
    """Abandon open checkouts; make those paid at a gateway due, so that the sweeper turns them into orders.

    Payment pages are closed after the commit. Whatever a customer pays there until then is refunded.
    """
    open_ones = Checkout.objects.filter(phase__in=OPEN_PHASES).order_by("pk").only(*ENDED_COLUMNS)
    locked = list(lock(open_ones))
    # Without a gateway, being ready says nothing about money: it would come on or after delivery. Such a checkout ends.
    paid = {checkout.pk for checkout in locked if checkout.ready_to_complete and is_at_gateway(checkout)}
    abandon_checkouts([checkout for checkout in locked if checkout.pk not in paid], now=now)
    Checkout.objects.filter(pk__in=paid).update(expires_at=now, sweep_after=None, updated_at=now)
