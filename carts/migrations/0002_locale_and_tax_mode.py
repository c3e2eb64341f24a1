from django.db import migrations, models

# Existing carts get the current values of their markets. Row-level security shows one account at a time.
BACKFILL = """
DO $$ DECLARE shop bigint; shops bigint[];
BEGIN
    SET LOCAL ROLE commerce_resolver;
    SELECT array_agg(id) INTO shops FROM account_ids() AS id;
    RESET ROLE;
    FOREACH shop IN ARRAY COALESCE(shops, '{}') LOOP
        PERFORM set_config('commerce.account_id', shop::text, true);
        UPDATE carts c SET locale = m.locale, prices_include_tax = m.prices_include_tax
          FROM markets m WHERE c.account_id = shop AND m.account_id = shop AND m.id = c.market_id;
        UPDATE cart_line_items l SET price_includes_tax = c.prices_include_tax
          FROM carts c WHERE l.account_id = shop AND c.account_id = shop AND c.id = l.cart_id;
    END LOOP;
    PERFORM set_config('commerce.account_id', '', true);
END $$
"""


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0001_initial'),
        ('carts', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='cart',
            name='locale',
            field=models.CharField(max_length=16, null=True),
        ),
        migrations.AddField(
            model_name='cart',
            name='prices_include_tax',
            field=models.BooleanField(null=True),
        ),
        migrations.AddField(
            model_name='cartlineitem',
            name='price_includes_tax',
            field=models.BooleanField(null=True),
        ),
        migrations.RunSQL(BACKFILL, migrations.RunSQL.noop),
        migrations.AlterField(
            model_name='cart',
            name='locale',
            field=models.CharField(max_length=16),
        ),
        migrations.AlterField(
            model_name='cart',
            name='prices_include_tax',
            field=models.BooleanField(),
        ),
        migrations.AlterField(
            model_name='cartlineitem',
            name='price_includes_tax',
            field=models.BooleanField(),
        ),
    ]
