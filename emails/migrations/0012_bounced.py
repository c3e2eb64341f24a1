from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # No transaction can build an index while emails are being sent.
    atomic = False

    dependencies = [("emails", "0011_quick_lists")]

    operations = [
        AddIndexConcurrently(
            "emaildelivery",
            models.Index(
                fields=["account", "sent_at"],
                condition=models.Q(bounced_at__isnull=False),
                name="email_deliveries_bounced",
            ),
        ),
    ]
