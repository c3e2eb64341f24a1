from django.db import migrations

from commerce.tenancy.conversions import mask_card_codes


class Migration(migrations.Migration):
    # Every batch is committed by itself.
    atomic = False

    dependencies = [("orders", "0003_integers_in_json")]

    operations = [mask_card_codes("orders", column="discount_codes")]
