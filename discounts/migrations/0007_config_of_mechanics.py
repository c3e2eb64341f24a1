import discounts.registry
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('discounts', '0006_expiry_in_turns'),
    ]

    operations = [
        migrations.AddField(
            model_name='discount',
            name='config',
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name='discount',
            name='type',
            field=models.CharField(choices=discounts.registry.type_choices, max_length=32),
        ),
    ]
