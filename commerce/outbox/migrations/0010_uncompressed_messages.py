from django.db import migrations


class Migration(migrations.Migration):
    """A message is kept for the seconds until it has been sent, so compressing it takes longer than it saves."""

    dependencies = [
        ('outbox', '0009_request_id'),
    ]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE outbox_dispatches ALTER COLUMN message SET STORAGE EXTERNAL",
            "ALTER TABLE outbox_dispatches ALTER COLUMN message SET STORAGE EXTENDED",
        ),
    ]
