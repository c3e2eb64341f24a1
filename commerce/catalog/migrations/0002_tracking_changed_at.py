import django.db.models.functions.datetime
from django.db import migrations, models

# A trigger, as processes of the release before don't know the column.
NOTE = """
CREATE FUNCTION note_tracking_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.tracking_changed_at := clock_timestamp();
    RETURN NEW;
END $$;
GRANT EXECUTE ON FUNCTION note_tracking_change() TO commerce_app;
CREATE TRIGGER variants_tracking_changed BEFORE UPDATE ON variants
FOR EACH ROW WHEN (NEW.track_inventory <> OLD.track_inventory) EXECUTE FUNCTION note_tracking_change();
"""
FORGET = """
DROP TRIGGER variants_tracking_changed ON variants;
DROP FUNCTION note_tracking_change();
"""
FIELD = {
    "editable": False,
    "help_text": "When track_inventory was changed last, kept by a trigger; null if it never was",
    "null": True,
}


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0001_initial"),
    ]

    operations = [
        # What was changed before is not known of the variants that are there: theirs counts from now.
        migrations.AddField(
            model_name="variant",
            name="tracking_changed_at",
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), **FIELD),
        ),
        migrations.AlterField(
            model_name="variant",
            name="tracking_changed_at",
            field=models.DateTimeField(**FIELD),
        ),
        migrations.RunSQL(NOTE, FORGET),
    ]
