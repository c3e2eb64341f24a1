import django.db.models.functions.comparison
import django.db.models.lookups
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0004_keys_under_a_handle'),
        ('carts', '0003_sizes'),
        ('checkouts', '0003_completion_key'),
        ('customers', '0001_initial'),
        ('orders', '0002_cancellation_and_tracking'),
    ]

    operations = [
        migrations.AddConstraint(
            model_name='checkout',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(models.Func(django.db.models.functions.comparison.Cast('shipping_address', models.TextField()), function='octet_length', output_field=models.IntegerField()), 16384), name='checkouts_shipping_address_size'),
        ),
        migrations.AddConstraint(
            model_name='checkout',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(models.Func(django.db.models.functions.comparison.Cast('billing_address', models.TextField()), function='octet_length', output_field=models.IntegerField()), 16384), name='checkouts_billing_address_size'),
        ),
        migrations.AddConstraint(
            model_name='checkout',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(models.Func(django.db.models.functions.comparison.Cast('customer_note', models.TextField()), function='octet_length', output_field=models.IntegerField()), 8192), name='checkouts_customer_note_size'),
        ),
        migrations.AddConstraint(
            model_name='checkoutpaymentattempt',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(models.Func(django.db.models.functions.comparison.Cast('return_url', models.TextField()), function='octet_length', output_field=models.IntegerField()), 8192), name='checkout_payment_attempts_return_url_size'),
        ),
        migrations.AddConstraint(
            model_name='checkoutpaymentattempt',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(models.Func(django.db.models.functions.comparison.Cast('cancel_url', models.TextField()), function='octet_length', output_field=models.IntegerField()), 8192), name='checkout_payment_attempts_cancel_url_size'),
        ),
    ]
