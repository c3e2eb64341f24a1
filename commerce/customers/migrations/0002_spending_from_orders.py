from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [("customers", "0001_initial")]

    operations = [
        migrations.SeparateDatabaseAndState(
            # Processes of the previous release still write the column. A later release can drop it.
            database_operations=[
                migrations.RunSQL(
                    "ALTER TABLE customers ALTER total_spent_cents SET DEFAULT 0",
                    "ALTER TABLE customers ALTER total_spent_cents DROP DEFAULT",
                )
            ],
            state_operations=[migrations.RemoveField("customer", "total_spent_cents")],
        )
    ]
