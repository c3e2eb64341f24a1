from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0001_initial'),
        ('customers', '0001_initial'),
        ('orders', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='order',
            name='cancel_reason',
            field=models.TextField(help_text='For staff, not for the customer', null=True),
        ),
        migrations.AddField(
            model_name='order',
            name='carrier',
            field=models.CharField(max_length=64, null=True),
        ),
        migrations.AddField(
            model_name='order',
            name='refunded_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='order',
            name='tracking_number',
            field=models.CharField(max_length=100, null=True),
        ),
        migrations.AddField(
            model_name='order',
            name='tracking_url',
            field=models.CharField(max_length=2048, null=True),
        ),
        migrations.AddIndex(
            model_name='order',
            index=models.Index(fields=['account', 'placed_at'], name='orders_placed'),
        ),
        migrations.AddConstraint(
            model_name='order',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('cancelled_at__isnull', True), ('status', 'open')), models.Q(('cancelled_at__isnull', True), ('fulfilled_at__isnull', False), ('paid_at__isnull', False), ('status', 'closed')), models.Q(('cancelled_at__isnull', False), ('fulfilled_at__isnull', True), ('status', 'cancelled')), _connector='OR'), name='orders_status'),
        ),
        migrations.AddConstraint(
            model_name='order',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('paid_at__isnull', True), ('payment_status', 'pending'), ('refunded_at__isnull', True)), models.Q(('paid_at__isnull', False), ('payment_status', 'paid'), ('refunded_at__isnull', True)), models.Q(('paid_at__isnull', False), ('payment_status', 'refunded'), ('refunded_at__isnull', False)), _connector='OR'), name='orders_payment_status'),
        ),
        migrations.AddConstraint(
            model_name='order',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('fulfilled_at__isnull', True), ('fulfillment_status', 'unfulfilled')), models.Q(('fulfilled_at__isnull', False), ('fulfillment_status', 'fulfilled')), _connector='OR'), name='orders_fulfillment_status'),
        ),
    ]
