from django.db import migrations

# During a deployment, processes of the previous release still insert carts and lines without the columns of 0002. A
# trigger fills them from the market, because a column default would be wrong for some markets.
FILL = """
CREATE FUNCTION fill_cart_from_market() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    SELECT COALESCE(NEW.locale, m.locale), COALESCE(NEW.prices_include_tax, m.prices_include_tax)
      INTO NEW.locale, NEW.prices_include_tax
      FROM markets m WHERE m.account_id = NEW.account_id AND m.id = NEW.market_id;
    RETURN NEW;
END $$;
GRANT EXECUTE ON FUNCTION fill_cart_from_market() TO commerce_app;
CREATE TRIGGER carts_of_old_processes BEFORE INSERT ON carts
FOR EACH ROW WHEN (NEW.locale IS NULL OR NEW.prices_include_tax IS NULL) EXECUTE FUNCTION fill_cart_from_market();

CREATE FUNCTION fill_line_from_market() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    SELECT m.prices_include_tax INTO NEW.price_includes_tax
      FROM carts c JOIN markets m ON m.account_id = c.account_id AND m.id = c.market_id
     WHERE c.account_id = NEW.account_id AND c.id = NEW.cart_id;
    RETURN NEW;
END $$;
GRANT EXECUTE ON FUNCTION fill_line_from_market() TO commerce_app;
CREATE TRIGGER cart_line_items_of_old_processes BEFORE INSERT ON cart_line_items
FOR EACH ROW WHEN (NEW.price_includes_tax IS NULL) EXECUTE FUNCTION fill_line_from_market();
"""
UNFILL = """
DROP TRIGGER cart_line_items_of_old_processes ON cart_line_items;
DROP FUNCTION fill_line_from_market();
DROP TRIGGER carts_of_old_processes ON carts;
DROP FUNCTION fill_cart_from_market();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0006_staff_invitations"),
        ("carts", "0003_sizes"),
    ]

    operations = [
        migrations.RunSQL(FILL, UNFILL),
    ]
