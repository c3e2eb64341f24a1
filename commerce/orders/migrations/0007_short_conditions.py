import django.db.models.expressions
import django.db.models.functions.comparison
import django.db.models.lookups
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

# The same rules in fewer words. Rows that exist are checked by the next migration, which locks out no writers.


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0011_language'),
        ('customers', '0003_quick_lists'),
        ('orders', '0006_caseless_emails'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='order',
            name='orders_total',
        ),
        migrations.RemoveConstraint(
            model_name='order',
            name='orders_not_negative',
        ),
        AddConstraintNotValid(
            model_name='order',
            constraint=models.CheckConstraint(condition=models.Q(('total_cents', django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.Case(models.When(prices_include_tax=True, then=models.F('subtotal_with_tax_cents')), default=django.db.models.expressions.CombinedExpression(models.F('subtotal_without_tax_cents'), '+', models.F('tax_cents'))), '-', models.F('discount_cents')), '+', models.F('shipping_cents')), '+', models.F('cod_fee_cents')))), name='orders_total'),
        ),
        AddConstraintNotValid(
            model_name='order',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.GreaterThanOrEqual(django.db.models.functions.comparison.Least('subtotal_with_tax_cents', 'subtotal_without_tax_cents', 'discount_cents', 'shipping_cents', 'shipping_discount_cents', 'shipping_tax_cents', 'cod_fee_cents', 'cod_fee_tax_cents', 'tax_cents', 'total_cents', 'gift_card_cents', 'amount_due_cents'), 0), name='orders_not_negative'),
        ),
    ]
