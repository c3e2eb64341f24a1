import django.db.models.functions.comparison
import django.db.models.lookups
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

# Oversized campaign data is dropped, so that its carts can still be changed and converted. Existing lines keep their
# attributes, because their constraint applies to new rows only (NOT VALID). Row-level security shows one account at a
# time.
CUT = """
DO $$ DECLARE shop bigint; shops bigint[];
BEGIN
    SET LOCAL ROLE commerce_resolver;
    SELECT array_agg(id) INTO shops FROM account_ids() AS id;
    RESET ROLE;
    FOREACH shop IN ARRAY COALESCE(shops, '{}') LOOP
        PERFORM set_config('commerce.account_id', shop::text, true);
        UPDATE carts SET utm = '{}' WHERE account_id = shop AND octet_length(utm::text) > 8192;
        UPDATE carts SET referrer = '' WHERE account_id = shop AND octet_length(referrer) > 8192;
    END LOOP;
    PERFORM set_config('commerce.account_id', '', true);
END $$
"""


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0004_keys_under_a_handle'),
        ('carts', '0002_locale_and_tax_mode'),
        ('catalog', '0001_initial'),
        ('customers', '0001_initial'),
    ]

    operations = [
        migrations.RunSQL(CUT, migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name='cart',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(models.Func(django.db.models.functions.comparison.Cast('utm', models.TextField()), function='octet_length', output_field=models.IntegerField()), 8192), name='carts_utm_size'),
        ),
        migrations.AddConstraint(
            model_name='cart',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(models.Func(django.db.models.functions.comparison.Cast('referrer', models.TextField()), function='octet_length', output_field=models.IntegerField()), 8192), name='carts_referrer_size'),
        ),
        AddConstraintNotValid(
            model_name='cartlineitem',
            constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(models.Func(django.db.models.functions.comparison.Cast('custom_attributes', models.TextField()), function='octet_length', output_field=models.IntegerField()), 8192), name='cart_line_items_attributes_size'),
        ),
    ]
