from django.db.models import Aggregate, Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce


def sum_up(rows: QuerySet, reference: str, aggregate: Aggregate | None = None) -> Coalesce:
    """Aggregate, for each row of a list, the `rows` that refer to it: by default their count; 0 for none.

    A subquery, because Django's own annotation groups by the id alone, only a part of the composite primary key.
    """
    # The list's ordering goes, because its columns would be grouped by as well.
    grouped = rows.filter(**{reference: OuterRef("pk")}).order_by().values(reference)
    return Coalesce(Subquery(grouped.annotate(total=aggregate or Count("pk")).values("total")), 0)
