from django.db import migrations

from commerce.loops.pruning import prune_function

# For workers of before: they forget nothing that was given up.
PRUNE = """
SET LOCAL ROLE commerce_resolver;
CREATE OR REPLACE FUNCTION prune_outbox_dispatches(max_age interval, batch integer) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH doomed AS MATERIALIZED (
        SELECT account_id, id FROM outbox_dispatches
         WHERE finished_at < statement_timestamp() - max_age /* AND status <> 'dead' */
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
PRUNE_KEEPING = PRUNE.replace("/* ", "").replace(" */", "")


class Migration(migrations.Migration):

    dependencies = [
        ('loops', '0001_initial'),
        ('outbox', '0006_turns'),
    ]

    operations = [
        prune_function(
            "prune_ended_dispatches",
            table="outbox_dispatches",
            time="finished_at",
            columns="id, account_id, target, status, finished_at",
            condition="(t.status <> 'dead' OR t.target->>'task_name' = ANY (forgettable))",
            parameter="forgettable text[]",
            locking="FOR UPDATE SKIP LOCKED",
        ),
        migrations.RunSQL(PRUNE_KEEPING, PRUNE),
    ]
