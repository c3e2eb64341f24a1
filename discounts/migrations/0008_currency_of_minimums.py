from django.db import migrations

from commerce.tenancy.conversions import convert_rows

# As `choose_currency` (accounts/queries.py) does for new ones.
_CURRENCY = """
    COALESCE((SELECT min(m.currency)
                FROM markets m
               WHERE m.account_id = t.account_id
                 AND (m.id = ANY (t.market_ids) OR t.market_ids = ARRAY[]::bigint[] AND m.status = 'active')
              HAVING count(DISTINCT m.currency) = 1),
             (SELECT a.default_currency FROM accounts a WHERE a.id = t.account_id))
"""


class Migration(migrations.Migration):
    # Every batch is committed by itself.
    atomic = False

    dependencies = [("discounts", "0007_config_of_mechanics"), ("accounts", "0006_staff_invitations")]

    operations = [
        convert_rows(
            "discounts",
            is_due="t.currency IS NULL AND t.minimum_order_subtotal_cents > 0 AND t.status <> 'archived'",
            assignments=f"currency = {_CURRENCY}",
        )
    ]
