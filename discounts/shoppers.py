"""Load what discounts need to know about the shopper: tags, segments, earlier orders and uses, and nothing else."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from django.db.models import QuerySet

from commerce.customers.models import Customer, Segment, normalise_email
from commerce.customers.queries import with_spending
from commerce.customers.segments import matches
from commerce.orders.queries import orders_of
from commerce.tenancy.scope import current_account_id
from commerce.tenancy.statements import Prepared, send

from .evaluation import Rule, Shopper
from .models import Discount


def _write_shopper_condition(use: str) -> str:
    # Not a join: with single values each half of the condition searches an index of its own.
    emails, customer_id = "(SELECT emails FROM person)", "(SELECT id FROM person)"
    return f"({use}.customer_email = ANY({emails}::text[]) OR {use}.customer_id = {customer_id})"


# Two parts for the customer, because on a table with a policy no index finds what a coalesce() returns.
# Shoppers are identified by customer or email: a guest's orders count for the customer with that email. A payment in
# progress that uses a first-order discount counts as an order.
_HISTORY = Prepared(
    f"""
    WITH known AS (
        SELECT id, normalised_email FROM customers
         WHERE account_id = %(account_id)s AND id = %(customer_id)s::bigint
         UNION ALL
        SELECT id, normalised_email FROM customers
         WHERE account_id = %(account_id)s AND normalised_email = %(email)s AND %(customer_id)s::bigint IS NULL
    ), person AS (
        SELECT (SELECT id FROM known) AS id, ARRAY[%(email)s::text, (SELECT normalised_email FROM known)] AS emails
    ), uses AS (
        SELECT r.discount_id, CASE r.kind WHEN 'redeem' THEN 1 ELSE -1 END AS number
          FROM discount_redemptions r
         WHERE r.account_id = %(account_id)s AND r.discount_id = ANY(%(discount_ids)s)
           AND {_write_shopper_condition("r")}
         UNION ALL
        SELECT h.discount_id, 1
          FROM discount_holds h
         WHERE h.account_id = %(account_id)s AND h.discount_id = ANY(%(discount_ids)s)
           AND {_write_shopper_condition("h")}
           AND h.checkout_id IS DISTINCT FROM %(checkout_id)s::bigint
    ), summed AS (
        SELECT discount_id, sum(number)::int AS number FROM uses GROUP BY discount_id
    )
    SELECT EXISTS ({orders_of(account="%(account_id)s", email="%(email)s", customer="person.id")}) OR EXISTS (
               SELECT FROM discount_holds h
                WHERE h.account_id = %(account_id)s AND h.is_first_order
                  AND {_write_shopper_condition("h")}
                  AND h.checkout_id IS DISTINCT FROM %(checkout_id)s::bigint
           ),
           ARRAY(SELECT discount_id FROM summed ORDER BY discount_id),
           ARRAY(SELECT number FROM summed ORDER BY discount_id)
      FROM person
    """,  # noqa: S608  constants alone
    reads=True,
)


class _Limited(Protocol):
    """The limits that a discount row and a rule have in common."""

    @property
    def id(self) -> int: ...
    @property
    def first_order_only(self) -> bool: ...
    @property
    def customer_eligibility(self) -> str: ...
    @property
    def usage_limit_per_customer(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class History:
    """A shopper's past: whether there is an order that isn't cancelled, and the uses of each discount, including holds.

    A payment in progress that uses a first-order discount counts as an order.
    """

    has_ordered: bool = False
    uses: Mapping[int, int] = field(default_factory=dict)

    def forbids(self, discount: _Limited) -> bool:
        """Whether the shopper may not use the discount again."""
        used = self.uses.get(discount.id, 0)
        if is_for_first_order(discount) and (self.has_ordered or used):
            return True
        limit = discount.usage_limit_per_customer
        return limit is not None and used >= limit


def load_history(
    discounts: Iterable[_Limited], *, customer_id: int | None, email: str, checkout_id: int | None
) -> History:
    """Load the history that these discounts depend on, without what this checkout holds itself.

    One statement; none if no discount has a limit per shopper.
    """
    limited = [
        discount.id
        for discount in discounts
        if discount.usage_limit_per_customer is not None or is_for_first_order(discount)
    ]
    if not limited:
        return History()
    parameters = {
        "account_id": current_account_id(),
        "customer_id": customer_id,
        "email": normalise_email(email),
        "checkout_id": checkout_id,
        # Rules without a limit are left out, because their uses don't matter and may be many.
        "discount_ids": limited,
    }
    (found,) = send(_HISTORY.call(parameters))
    has_ordered, discount_ids, numbers = found.rows[0]
    return History(has_ordered, dict(zip(discount_ids, numbers, strict=True)))


def load_shopper(
    rules: Sequence[Rule], *, customer_id: int | None, email: str, checkout_id: int | None
) -> Shopper:
    """Load the shopper's data that these rules depend on: at most three statements, none if they need no data."""
    history = load_history(rules, customer_id=customer_id, email=email, checkout_id=checkout_id)
    needs_customer = any(
        rule.customer_eligibility
        in (Discount.Eligibility.TAGGED, Discount.Eligibility.SEGMENTS, Discount.Eligibility.SPECIFIC)
        for rule in rules
    )
    customer = None
    if needs_customer:
        known: QuerySet[Customer] = Customer.objects.filter(redacted_at__isnull=True)
        if any(rule.customer_eligibility == Discount.Eligibility.SEGMENTS for rule in rules):
            # Segments may filter by it.
            known = with_spending(known)
        # A guest counts as the customer with the same email, as in `_HISTORY`.
        who = {"normalised_email": normalise_email(email)} if customer_id is None else {"pk": customer_id}
        customer = known.filter(**who).first()
    return Shopper(
        customer_id=customer.pk if customer else None,
        tags=frozenset(customer.tags) if customer else frozenset(),
        segment_ids=_find_segment_ids(customer, rules) if customer else frozenset(),
        has_ordered=history.has_ordered,
        uses=history.uses,
    )


def is_for_first_order(discount: _Limited) -> bool:
    return discount.first_order_only or discount.customer_eligibility == Discount.Eligibility.FIRST_ORDER


def _find_segment_ids(customer: Customer, rules: Sequence[Rule]) -> frozenset[int]:
    asked = {
        segment_id
        for rule in rules
        if rule.customer_eligibility == Discount.Eligibility.SEGMENTS
        for segment_id in rule.segment_ids
    }
    if not asked:
        return frozenset()
    # Segments have no stored members: their filters are evaluated for this customer.
    return frozenset(
        segment.pk for segment in Segment.objects.filter(pk__in=asked) if matches(segment.filter, customer)
    )
