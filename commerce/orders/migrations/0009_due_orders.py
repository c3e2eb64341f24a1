from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    # Indexes are built while orders are being placed, which no transaction can do.
    atomic = False

    dependencies = [
        ("accounts", "0011_language"),
        ("customers", "0003_quick_lists"),
        ("orders", "0008_check_short_conditions"),
    ]

    operations = [
        *(
            AddIndexConcurrently(
                "order", models.Index(fields=["account", column, "id"], name=f"orders_by_{column}")
            )
            for column in ("status", "payment_status", "fulfillment_status")
        ),
        AddIndexConcurrently(
            "order",
            models.Index(
                fields=["account", "id"],
                condition=Q(status="open")
                & Q(fulfillment_status="unfulfilled")
                & (Q(payment_status="paid") | Q(payment_method="cod")),
                name="orders_to_fulfil",
            ),
        ),
        AddIndexConcurrently(
            "order",
            models.Index(
                fields=["account", "id"],
                condition=Q(status="open")
                & Q(payment_status="pending")
                & ~(Q(fulfillment_status="unfulfilled") & Q(payment_method="cod")),
                name="orders_to_pay",
            ),
        ),
        AddIndexConcurrently(
            "order",
            models.Index(
                fields=["account", "id"],
                condition=Q(status="cancelled") & Q(payment_status="paid"),
                name="orders_to_refund",
            ),
        ),
        *(
            RemoveIndexConcurrently("order", f"orders_{name}")
            for name in ("open", "cancelled", "unpaid", "refunded", "unfulfilled")
        ),
    ]
