from django.db import migrations, models

# Keys that clients chose stood among the product's own. The product's have these shapes; any other key of an email
# is a client's. Rows of processes that don't know the column yet, as in the midst of a deployment, get their space
# from the trigger.
KEY_SPACE = r"""
CREATE FUNCTION key_space_of(task text, key text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN task = 'send_email'
                 AND key !~ '^[^/]+/[0-9A-Za-z]{32}$'
                 AND key !~ '^[^/]+/again/[0-9]+/[0-9a-f-]{36}$'
                 AND key !~ '^voucher\.issued/[0-9]+/[0-9T:.-]+Z$'
                 AND key !~ '^email_template_test/[0-9a-f-]{36}$'
           THEN 'caller' ELSE 'product' END
$$;
GRANT EXECUTE ON FUNCTION key_space_of(text, text) TO commerce_app;
"""

# Without FORCE the owner sees every account's rows; it comes back in the same transaction.
FILL = """
ALTER TABLE outbox_dispatches NO FORCE ROW LEVEL SECURITY;
UPDATE outbox_dispatches SET key_space = key_space_of(target->>'task_name', idempotency_key);
ALTER TABLE outbox_dispatches FORCE ROW LEVEL SECURITY;
CREATE FUNCTION set_dispatch_key_space() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.key_space := key_space_of(NEW.target->>'task_name', NEW.idempotency_key);
    RETURN NEW;
END $$;
GRANT EXECUTE ON FUNCTION set_dispatch_key_space() TO commerce_app;
CREATE TRIGGER outbox_dispatches_key_space BEFORE INSERT ON outbox_dispatches
FOR EACH ROW WHEN (NEW.key_space = '') EXECUTE FUNCTION set_dispatch_key_space();
"""
UNFILL = """
DROP TRIGGER outbox_dispatches_key_space ON outbox_dispatches;
DROP FUNCTION set_dispatch_key_space();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('outbox', '0004_pruning_in_batches'),
    ]

    operations = [
        migrations.RunSQL(KEY_SPACE, "DROP FUNCTION key_space_of(text, text)"),
        migrations.AddField(
            model_name='outboxdispatch',
            name='key_space',
            field=models.CharField(choices=[('product', 'Product'), ('caller', 'Caller')], db_default='', default='product', max_length=16),
        ),
        migrations.RunSQL(FILL, UNFILL),
        migrations.RemoveConstraint(model_name='outboxdispatch', name='outbox_dispatches_key'),
        migrations.AddConstraint(
            model_name='outboxdispatch',
            constraint=models.UniqueConstraint(fields=('account', 'key_space', 'idempotency_key'), name='outbox_dispatches_key'),
        ),
        migrations.AddConstraint(
            model_name='outboxdispatch',
            constraint=models.CheckConstraint(condition=models.Q(('key_space__in', ['product', 'caller'])), name='outbox_dispatches_key_space'),
        ),
    ]
