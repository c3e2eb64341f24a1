from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # No transaction can build an index while checkouts are being created.
    atomic = False

    dependencies = [("accounts", "0011_language"), ("checkouts", "0013_check_short_conditions")]

    operations = [
        AddIndexConcurrently(
            "checkout", models.Index(fields=["account", "market", "id"], name="checkouts_market")
        ),
    ]
