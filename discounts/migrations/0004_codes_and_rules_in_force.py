import django.db.models.functions.text
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0002_account_id_of'),
        ('discounts', '0003_vouchers_expiry'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='discount',
            index=models.Index(condition=models.Q(('code__isnull', True), ('status', 'active')), fields=['account'], name='discounts_in_force'),
        ),
        migrations.AddIndex(
            model_name='discount',
            index=models.Index(models.F('account'), django.db.models.functions.text.Upper('code'), name='discounts_by_code'),
        ),
    ]
