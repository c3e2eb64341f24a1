from django.db.models import Aggregate, Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce


def sum_up(rows: QuerySet, reference: str, aggregate: Aggregate | None = None) -> Coalesce:
    """For each row of a list an aggregate over the `rows` that refer to it, their number unless said; 0 for none.

    By a subquery: Django groups by the id alone, which is but a part of the composite primary key.
    """
    grouped = rows.filter(**{reference: OuterRef("pk")}).order_by().values(reference)
    return Coalesce(Subquery(grouped.annotate(total=aggregate or Count("pk")).values("total")), 0)
