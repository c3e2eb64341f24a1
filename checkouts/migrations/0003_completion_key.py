from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('checkouts', '0002_payments_at_gateways'),
    ]

    operations = [
        migrations.AddField(
            model_name='checkout',
            name='completion_key',
            field=models.CharField(help_text='The Idempotency-Key of the request that completed it', max_length=255, null=True),
        ),
        migrations.AddConstraint(
            model_name='checkout',
            constraint=models.UniqueConstraint(fields=('account', 'completion_key'), name='checkouts_completion_key'),
        ),
        migrations.AddConstraint(
            model_name='checkout',
            constraint=models.CheckConstraint(condition=models.Q(('completion_key__isnull', True), ('phase', 'completed'), _connector='OR'), name='checkouts_completion_key_with_completion'),
        ),
    ]
