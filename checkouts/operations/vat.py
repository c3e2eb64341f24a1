"""The buyer's VAT number. Pricing decides whether it leads to a reverse charge."""

from datetime import datetime

from checkouts.queries import LoadedCheckout, get_checkout, lock_checkout_for, require_phase
from commerce.orders.snapshots import VatSnapshot
from commerce.taxes.validation import Asker, validate
from commerce.taxes.vat import parse_vat_number
from commerce.tenancy.instances import post_columns
from commerce.tenancy.scope import ScopeOpener, current_account_id

from .pricing import PRICED, reprice


def set_vat_number(
    *,
    token: str,
    vat_country_code: str | None,
    vat_number: str | None,
    address: str,
    scope: ScopeOpener,
    now: datetime,
) -> LoadedCheckout:
    """Validate the buyer's VAT number and update the totals. An empty one clears it. `address` is the client's.

    Must be called with no scope open: it opens two, and asks VIES in between. Raises `VatNumberInvalid`, `RateLimited`,
    and whatever `lock_checkout_for` raises.
    """
    vat = None
    if vat_number:
        # VIES isn't asked for a checkout that couldn't take the answer. The phase is checked again below, under the lock.
        with scope():
            require_phase(get_checkout(token).checkout, "vat", now=now)
            account_id = current_account_id()
        number = parse_vat_number(vat_country_code or "", vat_number)
        asker = Asker(account_id=account_id, checkout_token=token, address=address)
        validation = validate(number, asker=asker, now=now)
        vat = VatSnapshot(
            country_code=number.country_code,
            number=number.number,
            status=validation.status,
            name=validation.name,
            validated_at=validation.validated_at,
        )
    with scope():
        loaded = lock_checkout_for("vat", token, now=now)
        loaded.checkout.vat = vat
        reprice(loaded.checkout, loaded.lines, now=now)
        post_columns(loaded.checkout, ["updated_at", *PRICED])
        return loaded
