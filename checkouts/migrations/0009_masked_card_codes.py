from django.db import migrations

from commerce.tenancy.conversions import mask_card_codes


class Migration(migrations.Migration):
    # Every batch is committed by itself.
    atomic = False

    dependencies = [("checkouts", "0008_gateways_that_were_removed")]

    operations = [
        mask_card_codes(
            "checkouts", column="discount_codes", only="t.phase IN ('completed', 'abandoned')"
        )
    ]
