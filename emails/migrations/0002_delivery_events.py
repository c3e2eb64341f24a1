import commerce.tenancy.fields
import commerce.tenancy.scope
import django.db.models.deletion
from django.db import migrations, models

from commerce.tenancy.operations import IsolateByAccount, ResolverFunction

RESOLVE = """
CREATE FUNCTION resolve_provider_message(message_id text) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
    SELECT DISTINCT account_id FROM email_deliveries WHERE provider_message_id = message_id
$$
"""


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0001_initial'),
        ('emails', '0001_initial'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='emaildelivery',
            index=models.Index(fields=['account', 'status', 'id'], name='email_deliveries_status'),
        ),
        migrations.AddIndex(
            model_name='emaildelivery',
            index=models.Index(fields=['account', 'template_key', 'id'], name='email_deliveries_template'),
        ),
        migrations.CreateModel(
            name='EmailDeliveryEvent',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('event_key', models.CharField(max_length=255)),
                ('type', models.CharField(max_length=64)),
                ('occurred_at', models.DateTimeField()),
                ('received_at', models.DateTimeField()),
                ('account', models.ForeignKey(db_index=False, default=commerce.tenancy.scope.current_account_id, editable=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounts.account')),
                ('delivery', commerce.tenancy.fields.AccountForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='emails.emaildelivery')),
            ],
            options={
                'db_table': 'email_delivery_events',
                'abstract': False,
                'base_manager_name': 'objects',
                'indexes': [models.Index(fields=['account', 'delivery'], name='email_delivery_events_of')],
                'constraints': [models.UniqueConstraint(fields=('account', 'event_key'), name='email_delivery_events_key')],
            },
        ),
        IsolateByAccount("emaildeliveryevent", append_only=True),
        ResolverFunction(
            "resolve_provider_message(text)",
            RESOLVE,
            access=[("email_deliveries", "SELECT", "account_id, provider_message_id")],
        ),
    ]
