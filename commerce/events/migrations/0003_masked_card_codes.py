from django.db import migrations

from commerce.tenancy.conversions import mask_card_codes


class Migration(migrations.Migration):
    # Every batch is committed by itself.
    atomic = False

    dependencies = [("events", "0002_api_versions")]

    operations = [
        # The serving role has no right to change events, with or without the trigger.
        migrations.RunSQL(
            "ALTER TABLE events DISABLE TRIGGER events_append_only",
            "ALTER TABLE events ENABLE TRIGGER events_append_only",
        ),
        mask_card_codes(
            "events", column="data", path=["discount_codes"], only="t.type = 'checkout.completed'"
        ),
        migrations.RunSQL(
            "ALTER TABLE events ENABLE TRIGGER events_append_only",
            "ALTER TABLE events DISABLE TRIGGER events_append_only",
        ),
    ]
