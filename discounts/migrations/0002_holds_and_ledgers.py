import commerce.tenancy.fields
import commerce.tenancy.scope
import django.db.models.deletion
from django.db import migrations, models

from commerce.tenancy.operations import IsolateByAccount


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0001_initial'),
        ('customers', '0001_initial'),
        ('discounts', '0001_initial'),
        ('orders', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='DiscountHold',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('code', models.CharField(max_length=64, null=True)),
                ('checkout_id', models.BigIntegerField()),
                ('customer_email', models.CharField(max_length=254)),
                ('amount_cents', models.BigIntegerField()),
                ('currency', models.CharField(max_length=3)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('account', models.ForeignKey(db_index=False, default=commerce.tenancy.scope.current_account_id, editable=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounts.account')),
                ('customer', commerce.tenancy.fields.AccountForeignKey(null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='customers.customer')),
                ('discount', commerce.tenancy.fields.AccountForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='discounts.discount')),
            ],
            options={
                'db_table': 'discount_holds',
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='DiscountRedemption',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('code', models.CharField(max_length=64, null=True)),
                ('checkout_id', models.BigIntegerField()),
                ('customer_email', models.CharField(max_length=254)),
                ('amount_cents', models.BigIntegerField()),
                ('currency', models.CharField(max_length=3)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('kind', models.CharField(choices=[('redeem', 'Redeem'), ('reversal', 'Reversal')], default='redeem', max_length=16)),
                ('account', models.ForeignKey(db_index=False, default=commerce.tenancy.scope.current_account_id, editable=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounts.account')),
                ('customer', commerce.tenancy.fields.AccountForeignKey(null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='customers.customer')),
                ('discount', commerce.tenancy.fields.AccountForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='discounts.discount')),
                ('order', commerce.tenancy.fields.AccountForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='orders.order')),
            ],
            options={
                'db_table': 'discount_redemptions',
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='VoucherHold',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('checkout_id', models.BigIntegerField()),
                ('amount_cents', models.BigIntegerField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('account', models.ForeignKey(db_index=False, default=commerce.tenancy.scope.current_account_id, editable=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounts.account')),
                ('voucher', commerce.tenancy.fields.AccountForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='discounts.voucher')),
            ],
            options={
                'db_table': 'voucher_holds',
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='VoucherPaymentAttempt',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('status', models.CharField(choices=[('succeeded', 'Succeeded'), ('refused', 'Refused')], max_length=16)),
                ('failure_code', models.CharField(max_length=64, null=True)),
                ('amount_cents', models.BigIntegerField()),
                ('order_id', models.BigIntegerField(null=True)),
                ('checkout_id', models.BigIntegerField(null=True)),
                ('actor', models.CharField(max_length=200)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('account', models.ForeignKey(db_index=False, default=commerce.tenancy.scope.current_account_id, editable=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounts.account')),
                ('voucher', commerce.tenancy.fields.AccountForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='payment_attempts', to='discounts.voucher')),
            ],
            options={
                'db_table': 'voucher_payment_attempts',
                'abstract': False,
                'base_manager_name': 'objects',
            },
        ),
        migrations.AddField(
            model_name='discount',
            name='usage_count',
            field=models.PositiveIntegerField(default=0, editable=False),
        ),
        migrations.AddField(
            model_name='voucher',
            name='held_cents',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='voucher',
            name='revocation_reason',
            field=models.TextField(blank=True),
        ),
        migrations.AddIndex(
            model_name='voucher',
            index=models.Index(condition=models.Q(('status', 'active')), fields=['expires_at'], name='vouchers_expiry'),
        ),
        migrations.AddIndex(
            model_name='voucherredemption',
            index=models.Index(fields=['account', 'order'], name='voucher_redemptions_order'),
        ),
        migrations.AddConstraint(
            model_name='voucher',
            constraint=models.CheckConstraint(condition=models.Q(('held_cents__gte', 0), ('held_cents__lte', models.F('balance_cents'))), name='vouchers_held'),
        ),
        migrations.AddIndex(
            model_name='discounthold',
            index=models.Index(fields=['account', 'discount'], name='discount_holds_discount'),
        ),
        migrations.AddConstraint(
            model_name='discounthold',
            constraint=models.UniqueConstraint(fields=('account', 'checkout_id', 'discount'), name='discount_holds_one'),
        ),
        migrations.AddConstraint(
            model_name='discounthold',
            constraint=models.CheckConstraint(condition=models.Q(('amount_cents__gt', 0)), name='discount_holds_amount'),
        ),
        migrations.AddIndex(
            model_name='discountredemption',
            index=models.Index(fields=['account', 'discount', 'customer_email'], name='discount_redemptions_email'),
        ),
        migrations.AddIndex(
            model_name='discountredemption',
            index=models.Index(fields=['account', 'discount', 'customer'], name='discount_redemptions_customer'),
        ),
        migrations.AddConstraint(
            model_name='discountredemption',
            constraint=models.UniqueConstraint(fields=('account', 'order', 'discount', 'kind'), name='discount_redemptions_one'),
        ),
        migrations.AddConstraint(
            model_name='discountredemption',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('amount_cents__gt', 0), ('kind', 'redeem')), models.Q(('amount_cents__lt', 0), ('kind', 'reversal')), _connector='OR'), name='discount_redemptions_sign'),
        ),
        migrations.AddIndex(
            model_name='voucherhold',
            index=models.Index(fields=['account', 'voucher'], name='voucher_holds_voucher'),
        ),
        migrations.AddConstraint(
            model_name='voucherhold',
            constraint=models.UniqueConstraint(fields=('account', 'checkout_id', 'voucher'), name='voucher_holds_one'),
        ),
        migrations.AddConstraint(
            model_name='voucherhold',
            constraint=models.CheckConstraint(condition=models.Q(('amount_cents__gt', 0)), name='voucher_holds_amount'),
        ),
        migrations.AddIndex(
            model_name='voucherpaymentattempt',
            index=models.Index(fields=['account', 'voucher'], name='voucher_payment_attempts_of'),
        ),
        migrations.AddConstraint(
            model_name='voucherpaymentattempt',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('failure_code__isnull', True), ('status', 'succeeded')), models.Q(('failure_code__isnull', False), ('status', 'refused')), _connector='OR'), name='voucher_payment_attempts_failure'),
        ),
        IsolateByAccount("discounthold"),
        IsolateByAccount("discountredemption", append_only=True),
        IsolateByAccount("voucherhold"),
        IsolateByAccount("voucherpaymentattempt", append_only=True),
    ]
