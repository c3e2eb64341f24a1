from django.db import migrations, models

# A checkout that waits for its gateway is not overdue until its waiting is. The function is changed as its owner.
OVERDUE_CHECKOUTS = """
GRANT SELECT (sweep_after) ON checkouts TO commerce_resolver;
SET LOCAL ROLE commerce_resolver;
CREATE OR REPLACE FUNCTION overdue_checkouts(batch integer) RETURNS TABLE (account_id bigint, checkout_id bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT c.account_id, c.id FROM checkouts c
     WHERE c.phase NOT IN ('completed', 'abandoned') AND c.expires_at <= now()
       AND (c.sweep_after IS NULL OR c.sweep_after <= now())
     ORDER BY c.expires_at LIMIT batch
$$;
RESET ROLE;
"""
OVERDUE_CHECKOUTS_BEFORE = """
SET LOCAL ROLE commerce_resolver;
CREATE OR REPLACE FUNCTION overdue_checkouts(batch integer) RETURNS TABLE (account_id bigint, checkout_id bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT c.account_id, c.id FROM checkouts c
     WHERE c.phase NOT IN ('completed', 'abandoned') AND c.expires_at <= now()
     ORDER BY c.expires_at LIMIT batch
$$;
RESET ROLE;
REVOKE SELECT (sweep_after) ON checkouts FROM commerce_resolver;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('checkouts', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='checkout',
            name='sweep_after',
            field=models.DateTimeField(help_text='The sweeper skips the checkout until then, while a gateway is asked about its payment', null=True),
        ),
        migrations.AddField(
            model_name='checkoutpaymentattempt',
            name='gateway_key',
            field=models.CharField(help_text='Its idempotency key at the gateway; null without a gateway', max_length=64, null=True),
        ),
        migrations.AddField(
            model_name='checkoutpaymentattempt',
            name='paid_late_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='checkoutpaymentattempt',
            name='refund_reference',
            field=models.CharField(max_length=255, null=True),
        ),
        migrations.AddField(
            model_name='checkoutpaymentattempt',
            name='refunded_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddConstraint(
            model_name='checkoutpaymentattempt',
            constraint=models.UniqueConstraint(condition=models.Q(('status__in', ['pending', 'requires_action'])), fields=('account', 'checkout'), name='checkout_payment_attempts_one_open'),
        ),
        migrations.AddConstraint(
            model_name='checkoutpaymentattempt',
            constraint=models.CheckConstraint(condition=models.Q(('paid_late_at__isnull', True), models.Q(('gateway_key__isnull', False), ('status', 'failed')), _connector='OR'), name='checkout_payment_attempts_paid_late'),
        ),
        migrations.AddConstraint(
            model_name='checkoutpaymentattempt',
            constraint=models.CheckConstraint(condition=models.Q(('refunded_at__isnull', True), ('paid_late_at__isnull', False), ('status', 'succeeded'), _connector='OR'), name='checkout_payment_attempts_refunded'),
        ),
        migrations.RunSQL(OVERDUE_CHECKOUTS, OVERDUE_CHECKOUTS_BEFORE),
    ]
