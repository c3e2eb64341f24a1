"""Finds rows by a text, ignoring case, with an index.

`upper()` isn't leakproof, so on a table with a policy a condition on it uses no index (see `commerce.prefixes`).
A column that the database fills with the text in upper case can be compared by `=`, which is leakproof.
"""

from django.db.models import F, GeneratedField, Q, TextField, Value
from django.db.models.functions import Upper


def caseless_key(field: str, *, null: bool = False) -> GeneratedField:
    """A column with a field's text in upper case. Name it after the field: `email_key` of `email`."""
    return GeneratedField(
        expression=Upper(F(field)), output_field=TextField(null=null), db_persist=True, null=null
    )


def matches_caseless(field: str, text: str) -> Q:
    """The condition that a field has this text, whatever the case. The field needs a `caseless_key`."""
    return Q(**{f"{field}_key": Upper(Value(text))})
