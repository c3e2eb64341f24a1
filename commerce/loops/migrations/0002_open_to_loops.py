from django.db import migrations

# Functions that look for rows of every account leave out those that are postponed.
OPEN = """
GRANT SELECT (loop, row_id) ON postponed_rows TO commerce_resolver;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('loops', '0001_initial'),
    ]

    operations = [
        migrations.RunSQL(OPEN, "REVOKE SELECT (loop, row_id) ON postponed_rows FROM commerce_resolver"),
    ]
