from django.db import migrations

# Orders could be sent out with more units of an untracked variant than were counted, and nothing was noted.
# From this release on the count is corrected then; here it is for those of before.
CORRECT = """
ALTER TABLE inventory_levels NO FORCE ROW LEVEL SECURITY;
ALTER TABLE inventory_reservations NO FORCE ROW LEVEL SECURITY;
ALTER TABLE inventory_adjustments NO FORCE ROW LEVEL SECURITY;
INSERT INTO inventory_adjustments (account_id, level_id, delta, reason, on_hand_after, created_at)
SELECT l.account_id, l.id, l.on_hand - COALESCE(a.units, 0) + COALESCE(r.units, 0), 'correction', l.on_hand, now()
  FROM inventory_levels l
  LEFT JOIN (SELECT account_id, level_id, sum(delta) AS units
               FROM inventory_adjustments GROUP BY account_id, level_id) a
    ON a.account_id = l.account_id AND a.level_id = l.id
  LEFT JOIN (SELECT account_id, level_id, sum(quantity) AS units
               FROM inventory_reservations WHERE status = 'fulfilled' GROUP BY account_id, level_id) r
    ON r.account_id = l.account_id AND r.level_id = l.id
 WHERE r.units > 0 AND l.on_hand > COALESCE(a.units, 0) - r.units;
ALTER TABLE inventory_levels FORCE ROW LEVEL SECURITY;
ALTER TABLE inventory_reservations FORCE ROW LEVEL SECURITY;
ALTER TABLE inventory_adjustments FORCE ROW LEVEL SECURITY;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("inventory", "0001_initial"),
    ]

    operations = [
        migrations.RunSQL(CORRECT, migrations.RunSQL.noop),
    ]
