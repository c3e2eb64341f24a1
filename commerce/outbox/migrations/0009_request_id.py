from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('outbox', '0008_claims_by_index'),
    ]

    operations = [
        migrations.AddField(
            model_name='outboxdispatch',
            name='request_id',
            field=models.CharField(blank=True, help_text='Of the request that enqueued it, for the log', max_length=128, null=True),
        ),
    ]
