from collections.abc import Mapping
from datetime import datetime

from accounts.queries import choose_currency
from commerce.errors import ValidationFailed
from commerce.queries import get_or_not_found
from commerce.tenancy.locks import Resource, about_to_lock, lock

from .errors import DiscountArchived, DiscountCodeTaken, DiscountInUse
from .field_rules import DISCOUNT, check_config
from .in_use import is_entered
from .mechanics.gift_card import GiftCard
from .models import Discount
from .queries import get_discount, require_known_ids
from .rules import has_amounts, require_fixed_values, require_sound, set_fields
from .vouchers.operations import disable_voucher, issue_voucher
from .vouchers.queries import is_voucher_code


def create_discount(*, fields: Mapping[str, object], actor: str, now: datetime) -> Discount:
    """Create a discount; null means a field's default. The type `gift_card` issues a voucher of its value.

    A minimum subtotal (cents) without a currency is in the one that the discount's markets share, or else in the
    account's default.

    Raises `ValidationFailed`, also for contradicting fields and unknown ids, and `DiscountCodeTaken`, also from the
    unique constraint.
    """
    fields = DISCOUNT.check(fields)
    discount = Discount(type=fields["type"])
    fields = check_config(fields, discount.mechanic)
    require_known_ids(fields, discount.mechanic)
    # Null means the type's default, which may differ from the column's.
    set_fields(discount, {"applies_to": None} | fields)
    require_sound(discount)
    _state_currency_of_minimum(discount)
    if discount.type == GiftCard.type:
        # The defaults only satisfy the types: `require_sound` has refused a gift card without them.
        discount.voucher = issue_voucher(
            initial_balance_cents=discount.value_amount or 0,
            currency=discount.currency or "",
            expires_at=discount.ends_at,
            actor=actor,
            now=now,
        )
        discount.code = discount.voucher.code
    else:
        _refuse_code_of_gift_card(discount.code)
    discount.save(force_insert=True)
    return discount


def update_discount(*, discount_id: int, changes: Mapping[str, object]) -> Discount:
    """Change a discount that isn't archived, except its type; null resets a field to its default.

    Raises `NotFound`, `DiscountArchived`, `DiscountInUse` if it would lose a code that shoppers have entered, and
    whatever `create_discount` raises.
    """
    changes = DISCOUNT.check(changes, partial=True)
    loses_code = "code" in changes and changes["code"] is None
    # Locked so that concurrent changes can't make its fields contradict. Only the full lock also makes shoppers who are
    # entering the code wait (`find_rule_by_code`).
    discount = get_or_not_found(lock(Discount.objects.all(), keys_too=loses_code), pk=discount_id)
    if discount.status == Discount.Status.ARCHIVED:
        raise DiscountArchived
    if changes.get("type", discount.type) != discount.type:
        raise ValidationFailed.of("type", "can_not_change", "The type of a discount can't change.")
    require_fixed_values(discount, changes)
    # Without a code it would apply automatically, and no longer belong to the entries in checkouts.
    if loses_code and discount.code is not None and is_entered(discount_id):
        raise DiscountInUse
    changes = check_config(changes, discount.mechanic)
    require_known_ids(changes, discount.mechanic)
    code_before = discount.code
    if "currency" not in changes and _has_stated_currency(discount):
        # It follows the minimum and the markets, which may change.
        changes = changes | {"currency": None}
    set_fields(discount, changes)
    require_sound(discount)
    _state_currency_of_minimum(discount)
    if discount.code != code_before:
        _refuse_code_of_gift_card(discount.code)
    discount.save(update_fields={*changes, "currency", "updated_at"})
    return discount


def archive_discount(*, discount_id: int, now: datetime) -> Discount:
    """Archive a discount permanently, which frees its code. A gift card's voucher is disabled.

    Repeating it changes nothing. Raises `NotFound`.
    """
    # A conditional UPDATE, so that of two simultaneous requests only the first sets the time.
    about_to_lock(Resource.DISCOUNT)
    Discount.objects.filter(pk=discount_id).exclude(status=Discount.Status.ARCHIVED).update(
        status=Discount.Status.ARCHIVED, archived_at=now, updated_at=now
    )
    discount = get_discount(discount_id)
    if discount.voucher_id is not None:
        discount.voucher = disable_voucher(voucher_id=discount.voucher_id, now=now)
    return discount


def _has_stated_currency(discount: Discount) -> bool:
    """Whether the currency is only that of the minimum, as `_state_currency_of_minimum` would choose it."""
    return (
        discount.minimum_order_subtotal_cents > 0
        and not has_amounts(discount)
        and discount.currency == choose_currency(market_ids=discount.market_ids)
    )


def _state_currency_of_minimum(discount: Discount) -> None:
    """Give a discount with a minimum the currency of that minimum, as 50.00 is much in one currency and little in another.

    A discount with a currency applies to no other.
    """
    if discount.currency is None and discount.minimum_order_subtotal_cents > 0:
        discount.currency = choose_currency(market_ids=discount.market_ids)


def _refuse_code_of_gift_card(code: str | None) -> None:
    """Raise `DiscountCodeTaken` for a gift card's code: shoppers type both kinds of codes into the same field.

    No lock is needed: a gift card's code is random, unknown to anyone before it is committed, and never changes.
    """
    if code is not None and is_voucher_code(code):
        raise DiscountCodeTaken("A gift card has this code.")
