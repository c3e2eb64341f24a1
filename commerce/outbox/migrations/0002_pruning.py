from django.db import migrations, models

from commerce.tenancy.operations import ResolverFunction

PRUNE = """
CREATE FUNCTION prune_outbox_dispatches(max_age interval, batch integer) RETURNS bigint LANGUAGE sql AS $$
    WITH pruned AS (
        DELETE FROM outbox_dispatches WHERE (account_id, id) IN (
            SELECT account_id, id FROM outbox_dispatches
             WHERE finished_at < statement_timestamp() - max_age
             ORDER BY finished_at LIMIT batch FOR UPDATE SKIP LOCKED)
        RETURNING 1
    )
    SELECT count(*) FROM pruned
$$
"""


class Migration(migrations.Migration):

    dependencies = [
        ('outbox', '0001_initial'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='outboxdispatch',
            index=models.Index(condition=models.Q(('finished_at__isnull', False)), fields=['finished_at'], name='outbox_dispatches_finished'),
        ),
        ResolverFunction(
            "prune_outbox_dispatches(interval, integer)",
            PRUNE,
            access=[
                ("outbox_dispatches", "SELECT", "id, account_id, finished_at"),
                ("outbox_dispatches", "DELETE", ""),
            ],
        ),
    ]
