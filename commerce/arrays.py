"""Conditions on arrays."""

from django.db.models import BooleanField, Func


class IsAnyOf(Func):
    """Whether a value is in an array, such as an `ArraySubquery`.

    The array is computed once, and its rows are looked up by an index. The subquery of an IN may be run for each row, or
    joined with all rows of the table.
    """

    template = "%(expressions)s)"
    arg_joiner = " = ANY("
    output_field = BooleanField()
