import django.db.models.fields.json
from django.db import migrations, models

from commerce.tenancy.operations import ResolverFunction

# Dispatches of one account and one task are a queue. A worker that has free threads takes from one queue after the
# other, beginning behind the one that it took from last, so that a long queue delays no other.
#
# While fewer than a hundred dispatches are due they are all looked at. Of a longer backlog the next queues are found
# by jumping from one to the next in the index, fifty at most or once round. They have up to three turns in a
# call; what is missing then is made up by those that have been due for longest. So a call costs the same however many
# are waiting.
#
# `busy` and `busy_tasks` have the account and the task of each dispatch that the worker is running. At most `share` of
# them may be of one account, and `task_share` of one task of an account; `rooms` says how many more of the tasks
# `limited` it may run. Of those whose worker was lost it takes `lost_room`, which is one at a time: whatever ended the
# last worker might end this one too, and with it all that runs beside it.
#
# A row that can't be changed is told as failed, and the others go on.
CLAIM = """
CREATE FUNCTION claim_outbox_turns(
    batch integer, lease interval, after_account bigint, after_task text,
    busy bigint[], busy_tasks text[], share integer, task_share integer,
    limited text[], rooms integer[], lost_room integer)
RETURNS TABLE (outcome text, of_account bigint, of_dispatch bigint, of_task text, lease_until timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    candidate record;
    place integer;
    taken bigint;
    is_spent boolean;
    last_account bigint;
    last_task text;
BEGIN
    FOR candidate IN
        WITH RECURSIVE lapsed AS (
            SELECT o.account_id, o.id, o.target->>'task_name' AS task
              FROM outbox_dispatches o
             WHERE o.status = 'processing' AND o.locked_until <= statement_timestamp()
             ORDER BY o.locked_until LIMIT 100
        ), oldest AS MATERIALIZED (
            SELECT o.account_id, o.id, o.target->>'task_name' AS task, o.due_at
              FROM outbox_dispatches o
             WHERE o.status = 'pending' AND o.due_at <= statement_timestamp()
             ORDER BY o.due_at LIMIT 100
        ), queue AS (
            SELECT after_account AS account_id, after_task AS task, NULL::timestamptz AS due_at,
                   false AS is_round, 0 AS step
             WHERE (SELECT count(*) FROM oldest) = 100
            UNION ALL
            SELECT n.account_id, n.task, n.due_at, n.is_round, q.step + 1
              FROM queue q CROSS JOIN LATERAL (
                (SELECT o.account_id, o.target->>'task_name' AS task, o.due_at, q.is_round
                   FROM outbox_dispatches o
                  WHERE o.status = 'pending' AND (o.account_id, o.target->>'task_name') > (q.account_id, q.task)
                  ORDER BY o.account_id, o.target->>'task_name', o.due_at LIMIT 1)
                UNION ALL
                (SELECT o.account_id, o.target->>'task_name', o.due_at, true
                   FROM outbox_dispatches o
                  WHERE o.status = 'pending' AND NOT q.is_round
                  ORDER BY o.account_id, o.target->>'task_name', o.due_at LIMIT 1)
                LIMIT 1) n
             WHERE q.step < 50
               AND NOT (n.is_round AND (n.account_id, n.task) > (after_account, after_task))
        )
        SELECT 'lapsed' AS source, l.account_id, l.id, l.task, true AS is_due FROM lapsed l
        UNION ALL
        SELECT 'queue', q.account_id, NULL, q.task, q.due_at <= statement_timestamp() FROM queue q
         WHERE q.step > 0
        UNION ALL
        SELECT 'round 2', q.account_id, NULL, q.task, q.due_at <= statement_timestamp() FROM queue q
         WHERE q.step > 0
        UNION ALL
        SELECT 'round 3', q.account_id, NULL, q.task, q.due_at <= statement_timestamp() FROM queue q
         WHERE q.step > 0
        UNION ALL
        (SELECT 'oldest', t.account_id, t.id, t.task, true
           FROM (SELECT o.*, row_number() OVER (PARTITION BY o.account_id, o.task ORDER BY o.due_at, o.id) AS turn
                   FROM oldest o) t
          ORDER BY t.turn, (t.account_id, coalesce(t.task, '')) <= (after_account, after_task),
                   t.account_id, t.task)
    LOOP
        EXIT WHEN batch <= 0;
        IF candidate.source = 'queue' THEN
            last_account := candidate.account_id;
            last_task := candidate.task;
        END IF;
        place := array_position(limited, candidate.task);
        taken := NULL;
        CONTINUE WHEN NOT candidate.is_due
                   OR cardinality(array_positions(busy, candidate.account_id)) >= share
                   OR (SELECT count(*) FROM unnest(busy, busy_tasks) b (account_id, task)
                        WHERE b.account_id = candidate.account_id AND b.task = candidate.task) >= task_share
                   OR place IS NOT NULL AND rooms[place] <= 0
                   OR candidate.source = 'lapsed' AND lost_room <= 0;
        BEGIN
            IF candidate.source IN ('queue', 'round 2', 'round 3') THEN
                SELECT o.id, false INTO taken, is_spent FROM outbox_dispatches o
                 WHERE o.account_id = candidate.account_id AND o.target->>'task_name' = candidate.task
                   AND o.status = 'pending' AND o.due_at <= statement_timestamp()
                 ORDER BY o.due_at LIMIT 1 FOR UPDATE SKIP LOCKED;
            ELSIF candidate.source = 'oldest' THEN
                SELECT o.id, false INTO taken, is_spent FROM outbox_dispatches o
                 WHERE o.account_id = candidate.account_id AND o.id = candidate.id
                   AND o.status = 'pending' AND o.due_at <= statement_timestamp()
                   FOR UPDATE SKIP LOCKED;
            ELSE
                SELECT o.id, o.attempts >= o.max_attempts INTO taken, is_spent FROM outbox_dispatches o
                 WHERE o.account_id = candidate.account_id AND o.id = candidate.id
                   AND o.status = 'processing' AND o.locked_until <= statement_timestamp()
                   FOR UPDATE SKIP LOCKED;
            END IF;
            CONTINUE WHEN taken IS NULL;
            -- A lease that ran out means a lost worker, which counts as a try: work that ends its worker ends as dead.
            UPDATE outbox_dispatches d
               SET status = CASE WHEN is_spent THEN 'dead' ELSE 'processing' END,
                   attempts = d.attempts + (candidate.source = 'lapsed' AND NOT is_spent)::integer,
                   locked_until = CASE WHEN NOT is_spent THEN clock_timestamp() + lease END,
                   finished_at = CASE WHEN is_spent THEN clock_timestamp() END,
                   last_error = CASE candidate.source WHEN 'lapsed' THEN 'The worker was lost.' ELSE d.last_error END
             WHERE d.account_id = candidate.account_id AND d.id = taken
            RETURNING d.locked_until INTO lease_until;
            outcome := CASE WHEN is_spent THEN 'spent' WHEN candidate.source = 'lapsed' THEN 'lapsed' ELSE 'due' END;
            IF NOT is_spent THEN
                batch := batch - 1;
                busy := busy || candidate.account_id;
                busy_tasks := busy_tasks || candidate.task;
                IF place IS NOT NULL THEN
                    rooms[place] := rooms[place] - 1;
                END IF;
                lost_room := lost_room - (candidate.source = 'lapsed')::integer;
            END IF;
        EXCEPTION WHEN others THEN
            outcome := 'failed'; lease_until := NULL;
        END;
        of_account := candidate.account_id; of_dispatch := coalesce(taken, candidate.id); of_task := candidate.task;
        RETURN NEXT;
    END LOOP;
    IF last_account IS NOT NULL THEN
        outcome := 'passed'; of_account := last_account; of_dispatch := NULL; of_task := last_task; lease_until := NULL;
        RETURN NEXT;
    END IF;
END $$
"""


class Migration(migrations.Migration):

    dependencies = [
        ('outbox', '0005_key_spaces'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='outboxdispatch',
            index=models.Index(
                models.F('account'),
                django.db.models.fields.json.KT('target__task_name'),
                models.F('due_at'),
                condition=models.Q(('status', 'pending')),
                name='outbox_dispatches_queues',
            ),
        ),
        # The function before stays for workers of before, which a deployment ends one after the other.
        ResolverFunction(
            "claim_outbox_turns(integer, interval, bigint, text, bigint[], text[], integer, integer, text[], integer[], "
            "integer)",
            CLAIM,
            access=[
                (
                    "outbox_dispatches",
                    "SELECT",
                    "id, account_id, target, status, due_at, locked_until, attempts, max_attempts, last_error",
                ),
                ("outbox_dispatches", "UPDATE", "status, attempts, locked_until, finished_at, last_error"),
            ],
        ),
    ]
