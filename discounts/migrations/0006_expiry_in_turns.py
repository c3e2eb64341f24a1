from django.db import migrations

# Accounts take turns, as with overdue checkouts: many gift cards of one don't delay the others'.
EXPIRED_VOUCHERS = """
SET LOCAL ROLE commerce_resolver;
CREATE OR REPLACE FUNCTION expired_vouchers(batch integer) RETURNS TABLE (account_id bigint, voucher_id bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT o.account_id, o.id
      FROM (SELECT d.*, row_number() OVER (PARTITION BY d.account_id ORDER BY d.expires_at, d.id) AS turn
              FROM (SELECT v.account_id, v.id, v.expires_at FROM vouchers v
                     WHERE v.status = 'active' AND v.expires_at <= statement_timestamp()
                       AND NOT EXISTS (
                           SELECT FROM postponed_rows p
                            WHERE p.account_id = v.account_id AND p.loop = 'vouchers' AND p.row_id = v.id
                              AND p.retry_at > statement_timestamp())
                     ORDER BY v.expires_at LIMIT 10000) d) o
     ORDER BY o.turn, o.expires_at LIMIT batch
$$;
RESET ROLE;
"""
EXPIRED_VOUCHERS_BEFORE = """
SET LOCAL ROLE commerce_resolver;
CREATE OR REPLACE FUNCTION expired_vouchers(batch integer) RETURNS TABLE (account_id bigint, voucher_id bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT v.account_id, v.id FROM vouchers v
     WHERE v.status = 'active' AND v.expires_at <= now()
     ORDER BY v.expires_at LIMIT batch
$$;
RESET ROLE;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('discounts', '0005_gift_cards_and_first_orders'),
        ('loops', '0002_open_to_loops'),
    ]

    operations = [
        migrations.RunSQL(EXPIRED_VOUCHERS, EXPIRED_VOUCHERS_BEFORE),
    ]
