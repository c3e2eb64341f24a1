import django.db.models.functions.text
from django.db import migrations, models

from commerce.tenancy.operations import ResolverFunction

EXPIRED_VOUCHERS = """
CREATE FUNCTION expired_vouchers(batch integer) RETURNS TABLE (account_id bigint, voucher_id bigint)
LANGUAGE sql STABLE AS $$
    SELECT v.account_id, v.id FROM vouchers v
     WHERE v.status = 'active' AND v.expires_at <= now()
     ORDER BY v.expires_at LIMIT batch
$$
"""


class Migration(migrations.Migration):

    dependencies = [
        ('discounts', '0002_holds_and_ledgers'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='voucher',
            index=models.Index(models.F('account'), django.db.models.functions.text.Upper('recipient_email'), name='vouchers_recipient'),
        ),
        ResolverFunction(
            "expired_vouchers(integer)",
            EXPIRED_VOUCHERS,
            access=[("vouchers", "SELECT", "id, account_id, status, expires_at")],
        ),
    ]
