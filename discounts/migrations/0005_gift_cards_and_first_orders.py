import commerce.tenancy.fields
import django.db.models.deletion
from django.db import migrations, models

from commerce.tenancy.operations import AddAccountReference


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0003_api_key_expires_at'),
        ('customers', '0001_initial'),
        ('discounts', '0004_codes_and_rules_in_force'),
    ]

    operations = [
        migrations.AddField(
            model_name='discount',
            name='voucher',
            field=commerce.tenancy.fields.AccountForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='discounts.voucher'),
        ),
        AddAccountReference('discount', 'voucher'),
        migrations.AddField(
            model_name='discounthold',
            name='is_first_order',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddConstraint(
            model_name='discount',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('code__isnull', False), ('type', 'gift_card'), ('voucher__isnull', False)), models.Q(models.Q(('type', 'gift_card'), _negated=True), ('voucher__isnull', True)), _connector='OR'), name='discounts_gift_card'),
        ),
        migrations.AddConstraint(
            model_name='discount',
            constraint=models.UniqueConstraint(fields=('account', 'voucher'), name='discounts_voucher'),
        ),
        migrations.AddConstraint(
            model_name='discounthold',
            constraint=models.UniqueConstraint(condition=models.Q(('is_first_order', True)), fields=('account', 'customer_email'), name='discount_holds_first_order_email'),
        ),
        migrations.AddConstraint(
            model_name='discounthold',
            constraint=models.UniqueConstraint(condition=models.Q(('is_first_order', True)), fields=('account', 'customer'), name='discount_holds_first_order_customer'),
        ),
    ]
