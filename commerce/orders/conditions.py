"""Which orders wait for somebody. Partial indexes have the same conditions, so that a list or count reads only these."""

from django.db.models import Q

_OPEN = Q(status="open")
_UNFULFILLED = Q(fulfillment_status="unfulfilled")
_UNPAID = Q(payment_status="pending")
_PAID = Q(payment_status="paid")
# The carrier collects the money, so the parcel goes out first.
_ON_DELIVERY = Q(payment_method="cod")

TO_FULFIL = _OPEN & _UNFULFILLED & (_PAID | _ON_DELIVERY)
TO_PAY = _OPEN & _UNPAID & ~(_UNFULFILLED & _ON_DELIVERY)
TO_REFUND = Q(status="cancelled") & _PAID
