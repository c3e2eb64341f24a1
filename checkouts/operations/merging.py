"""End the checkouts of two carts when they are merged."""

from carts.merging import Merge, first_on_merge
from checkouts.errors import CheckoutInPayment
from checkouts.models import Checkout
from checkouts.phases import OPEN_PHASES, Phase
from checkouts.queries import effective_phase
from commerce.tenancy.locks import lock

from .abandonment import abandon_checkouts


@first_on_merge
def end_open_checkouts(merge: Merge) -> None:
    """Abandon the open checkouts of both carts, because they no longer match their carts.

    The target's checkout stays if no line was added to its cart. Raises `CheckoutInPayment` if either is being paid.
    """
    of_both = Checkout.objects.filter(
        cart_id__in=[merge.source.pk, merge.target.pk], phase__in=OPEN_PHASES
    ).order_by("pk")
    checkouts = list(lock(of_both))
    for checkout in checkouts:
        # Money may be on its way for exactly the lines that are moved (docs/decisions/0007).
        if effective_phase(checkout, now=merge.now) == Phase.PROCESSING:
            raise CheckoutInPayment(checkout_token=checkout.token)
    # The source's lines are gone in any case.
    is_stale = {merge.source.pk: True, merge.target.pk: merge.moved_lines > 0}
    abandon_checkouts([checkout for checkout in checkouts if is_stale[checkout.cart_id]], now=merge.now)
