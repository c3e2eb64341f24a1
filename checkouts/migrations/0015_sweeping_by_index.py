from django.db import migrations

# The open phases are named, as in the condition of the index `checkouts_expiry`. PostgreSQL doesn't conclude them from
# those that are left out, and would read all checkouts of all accounts.
OVERDUE_CHECKOUTS = """
SET LOCAL ROLE commerce_resolver;
CREATE OR REPLACE FUNCTION overdue_checkouts(batch integer) RETURNS TABLE (account_id bigint, checkout_id bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT o.account_id, o.id
      FROM (SELECT d.*, row_number() OVER (PARTITION BY d.account_id ORDER BY d.expires_at, d.id) AS turn
              FROM (SELECT c.account_id, c.id, c.expires_at FROM checkouts c
                     WHERE c.phase IN ('pending', 'address', 'shipping', 'payment', 'processing', 'failed')
                       AND c.expires_at <= statement_timestamp()
                       AND (c.sweep_after IS NULL OR c.sweep_after <= statement_timestamp())
                       AND NOT EXISTS (
                           SELECT FROM postponed_rows p
                            WHERE p.account_id = c.account_id AND p.loop = 'checkouts' AND p.row_id = c.id
                              AND p.retry_at > statement_timestamp())
                     ORDER BY c.expires_at LIMIT 10000) d) o
     ORDER BY o.turn, o.expires_at LIMIT batch
$$;
RESET ROLE;
"""
OVERDUE_CHECKOUTS_BEFORE = """
SET LOCAL ROLE commerce_resolver;
CREATE OR REPLACE FUNCTION overdue_checkouts(batch integer) RETURNS TABLE (account_id bigint, checkout_id bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT o.account_id, o.id
      FROM (SELECT d.*, row_number() OVER (PARTITION BY d.account_id ORDER BY d.expires_at, d.id) AS turn
              FROM (SELECT c.account_id, c.id, c.expires_at FROM checkouts c
                     WHERE c.phase NOT IN ('completed', 'abandoned') AND c.expires_at <= statement_timestamp()
                       AND (c.sweep_after IS NULL OR c.sweep_after <= statement_timestamp())
                       AND NOT EXISTS (
                           SELECT FROM postponed_rows p
                            WHERE p.account_id = c.account_id AND p.loop = 'checkouts' AND p.row_id = c.id
                              AND p.retry_at > statement_timestamp())
                     ORDER BY c.expires_at LIMIT 10000) d) o
     ORDER BY o.turn, o.expires_at LIMIT batch
$$;
RESET ROLE;
"""


class Migration(migrations.Migration):

    dependencies = [("checkouts", "0014_market"), ("loops", "0002_open_to_loops")]

    operations = [migrations.RunSQL(OVERDUE_CHECKOUTS, OVERDUE_CHECKOUTS_BEFORE)]
