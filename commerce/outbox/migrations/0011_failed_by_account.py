from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # No transaction can build an index while dispatches are being added.
    atomic = False

    dependencies = [("outbox", "0010_uncompressed_messages")]

    operations = [
        AddIndexConcurrently(
            "outboxdispatch",
            models.Index(
                fields=["account", "id"], name="outbox_dispatches_failed", condition=models.Q(status="dead")
            ),
        ),
    ]
