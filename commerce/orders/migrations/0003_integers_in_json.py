from django.db import migrations

from commerce.tenancy.conversions import store_integers

_OFF = ("discount_id", "voucher_id", "amount_cents")


class Migration(migrations.Migration):
    # Every batch is committed by itself.
    atomic = False

    dependencies = [
        ("accounts", "0001_initial"),
        ("orders", "0002_cancellation_and_tracking"),
    ]

    operations = [
        store_integers(
            "orders",
            objects={
                "shipping_method": ("id", "rate_id", "price_cents", "cod_fee_cents"),
                "pickup_point": ("id",),
            },
            lists={"discount_codes": _OFF, "automatic_discounts": ("discount_id", "amount_cents")},
        ),
    ]
