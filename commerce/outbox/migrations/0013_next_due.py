from django.db import migrations

from commerce.tenancy.operations import ResolverFunction

# Work that has become due since `since`, and wasn't claimed, counts as due now.
NEXT_DUE = """
CREATE FUNCTION outbox_next_due(since interval)
RETURNS interval
LANGUAGE sql STABLE AS $$
    SELECT greatest(due_at - statement_timestamp(), interval '0')
      FROM outbox_dispatches
     WHERE status = 'pending' AND due_at > statement_timestamp() - since
     ORDER BY due_at LIMIT 1
$$
"""


class Migration(migrations.Migration):

    dependencies = [
        ('outbox', '0012_shorter_look'),
    ]

    operations = [
        ResolverFunction(
            "outbox_next_due(interval)",
            NEXT_DUE,
            access=[("outbox_dispatches", "SELECT", "status, due_at")],
        ),
    ]
