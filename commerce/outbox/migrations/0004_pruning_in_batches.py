from django.db import migrations

# `DELETE ... WHERE id IN (SELECT ... LIMIT n FOR UPDATE SKIP LOCKED)` deletes more than n rows where the planner
# joins by a nested loop: it then runs the inner SELECT anew for each row, which skips what is deleted already and
# takes the next n. Which plan it makes depends on when the table was analysed last. A CTE that locks runs once.
PRUNE = """
SET LOCAL ROLE commerce_resolver;
CREATE OR REPLACE FUNCTION prune_outbox_dispatches(max_age interval, batch integer) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH doomed AS MATERIALIZED (
        SELECT account_id, id FROM outbox_dispatches
         WHERE finished_at < statement_timestamp() - max_age
         ORDER BY finished_at LIMIT batch FOR UPDATE SKIP LOCKED
    ), pruned AS (
        DELETE FROM outbox_dispatches d USING doomed
         WHERE d.account_id = doomed.account_id AND d.id = doomed.id
        RETURNING 1
    )
    SELECT count(*) FROM pruned
$$;
RESET ROLE;
"""
PRUNE_BEFORE = """
SET LOCAL ROLE commerce_resolver;
CREATE OR REPLACE FUNCTION prune_outbox_dispatches(max_age interval, batch integer) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH pruned AS (
        DELETE FROM outbox_dispatches WHERE (account_id, id) IN (
            SELECT account_id, id FROM outbox_dispatches
             WHERE finished_at < statement_timestamp() - max_age
             ORDER BY finished_at LIMIT batch FOR UPDATE SKIP LOCKED)
        RETURNING 1
    )
    SELECT count(*) FROM pruned
$$;
RESET ROLE;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('outbox', '0003_backlog'),
    ]

    operations = [
        migrations.RunSQL(PRUNE, PRUNE_BEFORE),
    ]
