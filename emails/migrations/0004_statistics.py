from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('emails', '0003_account_templates'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='emaildelivery',
            index=models.Index(fields=['account', 'sent_at'], include=('delivered_at', 'opened_at', 'bounced_at'), name='email_deliveries_sent'),
        ),
    ]
