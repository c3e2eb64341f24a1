from django.db import migrations

# Filters were saved under the operators' real names. Of those with the same name, the oldest is kept.
RENAME = """
ALTER TABLE saved_filters NO FORCE ROW LEVEL SECURITY;
UPDATE saved_filters f SET username = 'An operator'
 WHERE f.id = (
     SELECT min(other.id) FROM saved_filters other JOIN users u ON u.username = other.username
      WHERE u.is_superuser
        AND (other.account_id, other.page, other.name) = (f.account_id, f.page, f.name)
 ) AND NOT EXISTS (
     SELECT FROM saved_filters kept
      WHERE (kept.account_id, kept.page, kept.username, kept.name) = (f.account_id, f.page, 'An operator', f.name)
 );
DELETE FROM saved_filters f USING users u WHERE u.username = f.username AND u.is_superuser AND f.username <> 'An operator';
ALTER TABLE saved_filters FORCE ROW LEVEL SECURITY;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0010_sessions'),
        ('backoffice', '0002_changes_and_saved_filters'),
    ]

    operations = [
        migrations.RunSQL(RENAME, migrations.RunSQL.noop),
    ]
