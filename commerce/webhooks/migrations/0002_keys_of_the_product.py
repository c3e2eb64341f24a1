from django.db import migrations

ENQUEUE = """
CREATE OR REPLACE FUNCTION enqueue_webhooks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM webhook_endpoints w JOIN published e ON e.account_id = w.account_id
         WHERE w.account_id = current_account_id() AND w.status = 'active'
           AND (w.topics = '{}' OR e.type = ANY (w.topics))
    ) THEN
        INSERT INTO outbox_dispatches (
            account_id, dispatch_type, target, payload, payload_version, idempotency_key,
            status, attempts, max_attempts, due_at, last_error, created_at /* column */)
        SELECT w.account_id, 'task', '{"task_name": "deliver_webhook"}',
               jsonb_build_object('endpoint_id', w.id, 'event_id', e.id), 1, format('webhook/%s/%s', w.id, e.id),
               'pending', 0, 5, e.occurred_at, '', clock_timestamp() /* value */
          FROM webhook_endpoints w JOIN published e ON e.account_id = w.account_id
         WHERE w.account_id = current_account_id() AND w.status = 'active'
           AND (w.topics = '{}' OR e.type = ANY (w.topics))
         ORDER BY w.id, e.id /* conflict */;
    END IF;
    RETURN NULL;
END $$;
"""
WITH_SPACE = (
    ENQUEUE.replace("/* column */", ", key_space")
    .replace("/* value */", ", 'product'")
    .replace("/* conflict */", "ON CONFLICT (account_id, key_space, idempotency_key) DO NOTHING")
)


class Migration(migrations.Migration):

    dependencies = [
        ('outbox', '0005_key_spaces'),
        ('webhooks', '0001_initial'),
    ]

    operations = [migrations.RunSQL(WITH_SPACE, ENQUEUE)]
