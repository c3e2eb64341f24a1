from django.db import migrations, models

from commerce.tenancy.operations import ResolverFunction

# Closed orders are refunded by hand.
METHODS = """
CREATE FUNCTION methods_with_open_money() RETURNS TABLE (payment_method text) LANGUAGE sql STABLE AS $$
    SELECT DISTINCT a.payment_method::text
      FROM checkout_payment_attempts a
      LEFT JOIN orders o ON o.account_id = a.account_id AND o.checkout_id = a.checkout_id
     WHERE a.gateway_key IS NOT NULL AND a.refunded_at IS NULL
       AND (a.status IN ('pending', 'requires_action') OR a.paid_late_at IS NOT NULL
            OR a.status = 'succeeded' AND (o.status IS NULL OR o.payment_status = 'paid' AND o.status <> 'closed'))
$$
"""


class Migration(migrations.Migration):

    dependencies = [
        ('checkouts', '0007_integers_in_json'),
        ('orders', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='checkout',
            name='uses_gateway',
            field=models.BooleanField(help_text='Whether the last payment went to a gateway; null before one, and if an earlier release started it', null=True),
        ),
        ResolverFunction(
            "methods_with_open_money()",
            METHODS,
            access=[
                (
                    "checkout_payment_attempts",
                    "SELECT",
                    "account_id, checkout_id, payment_method, status, gateway_key, paid_late_at, refunded_at",
                ),
                ("orders", "SELECT", "account_id, checkout_id, status, payment_status"),
            ],
        ),
    ]
