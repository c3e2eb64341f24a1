from django.db import migrations

from commerce.tenancy.conversions import mask_card_codes


class Migration(migrations.Migration):
    # Every batch is committed by itself.
    atomic = False

    dependencies = [("emails", "0008_domains_of_others")]

    operations = [
        mask_card_codes(
            "email_deliveries",
            column="ctx",
            path=["order", "discount_codes"],
            only="t.template_key LIKE 'order.%'",
        )
    ]
