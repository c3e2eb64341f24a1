from django.db import migrations, models

from commerce.tenancy.operations import ResolverFunction

# Each part has a partial index of its own, in whose order it is read so that the planner takes no other way.
BACKLOG = """
CREATE FUNCTION outbox_backlog(at_most integer)
RETURNS TABLE (pending bigint, processing bigint, dead bigint, oldest_due_at timestamptz)
LANGUAGE sql STABLE AS $$
    SELECT (SELECT count(*) FROM (
               SELECT FROM outbox_dispatches WHERE status = 'pending' ORDER BY due_at LIMIT at_most) p),
           (SELECT count(*) FROM (
               SELECT FROM outbox_dispatches WHERE status = 'processing' ORDER BY locked_until LIMIT at_most) l),
           (SELECT count(*) FROM (
               SELECT FROM outbox_dispatches WHERE status = 'dead' ORDER BY finished_at LIMIT at_most) d),
           LEAST((SELECT min(due_at) FROM outbox_dispatches WHERE status = 'pending'),
                 (SELECT min(locked_until) FROM outbox_dispatches WHERE status = 'processing'))
$$
"""


class Migration(migrations.Migration):

    dependencies = [
        ('outbox', '0002_pruning'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='outboxdispatch',
            index=models.Index(condition=models.Q(('status', 'dead')), fields=['finished_at'], name='outbox_dispatches_dead'),
        ),
        ResolverFunction(
            "outbox_backlog(integer)",
            BACKLOG,
            access=[("outbox_dispatches", "SELECT", "status, due_at, locked_until, finished_at")],
        ),
    ]
