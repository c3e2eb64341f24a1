from django.db import migrations, models

# As with the dispatches that they were sent for.
FILL = """
ALTER TABLE email_deliveries NO FORCE ROW LEVEL SECURITY;
UPDATE email_deliveries SET key_space = key_space_of('send_email', idempotency_key);
ALTER TABLE email_deliveries FORCE ROW LEVEL SECURITY;
CREATE FUNCTION set_delivery_key_space() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.key_space := key_space_of('send_email', NEW.idempotency_key);
    RETURN NEW;
END $$;
GRANT EXECUTE ON FUNCTION set_delivery_key_space() TO commerce_app;
CREATE TRIGGER email_deliveries_key_space BEFORE INSERT ON email_deliveries
FOR EACH ROW WHEN (NEW.key_space = '') EXECUTE FUNCTION set_delivery_key_space();
"""
UNFILL = """
DROP TRIGGER email_deliveries_key_space ON email_deliveries;
DROP FUNCTION set_delivery_key_space();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('emails', '0004_statistics'),
        ('outbox', '0005_key_spaces'),
    ]

    operations = [
        migrations.AddField(
            model_name='emaildelivery',
            name='key_space',
            field=models.CharField(choices=[('product', 'Product'), ('caller', 'Caller')], db_default='', default='product', max_length=16),
        ),
        migrations.RunSQL(FILL, UNFILL),
        migrations.RemoveConstraint(model_name='emaildelivery', name='email_deliveries_key'),
        migrations.AddConstraint(
            model_name='emaildelivery',
            constraint=models.UniqueConstraint(fields=('account', 'key_space', 'idempotency_key'), name='email_deliveries_key'),
        ),
        migrations.AddConstraint(
            model_name='emaildelivery',
            constraint=models.CheckConstraint(condition=models.Q(('key_space__in', ['product', 'caller'])), name='email_deliveries_key_space'),
        ),
    ]
