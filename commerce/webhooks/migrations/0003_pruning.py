from django.db import migrations, models

from commerce.loops.pruning import prune_function


class Migration(migrations.Migration):

    dependencies = [
        ('loops', '0001_initial'),
        ('webhooks', '0002_keys_of_the_product'),
    ]

    operations = [
        prune_function(
            "prune_old_deliveries",
            table="webhook_deliveries",
            time="created_at",
            columns="id, account_id, created_at",
        ),
        migrations.AlterField(
            model_name='webhookendpoint',
            name='rests_until',
            field=models.DateTimeField(help_text="It isn't called until then, because it didn't answer or was slow", null=True),
        ),
    ]
