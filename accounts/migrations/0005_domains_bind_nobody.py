from django.db import migrations


class Migration(migrations.Migration):
    """Any market may name any domain: nobody has shown that it is theirs."""

    dependencies = [
        ("accounts", "0004_keys_under_a_handle"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="market", name="markets_domain"),
    ]
