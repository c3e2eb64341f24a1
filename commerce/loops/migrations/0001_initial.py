import django.db.models.deletion
from django.db import migrations, models

import commerce.tenancy.scope
from commerce.loops.pruning import prune_function
from commerce.tenancy.operations import IsolateByAccount


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0002_account_id_of'),
    ]

    operations = [
        migrations.CreateModel(
            name='PostponedRow',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('loop', models.CharField(max_length=32)),
                ('row_id', models.BigIntegerField()),
                ('failures', models.PositiveIntegerField(default=1, help_text='In a row')),
                ('retry_at', models.DateTimeField()),
                ('last_error', models.TextField(blank=True, help_text='The name of the exception; the log has the rest')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('account', models.ForeignKey(db_index=False, default=commerce.tenancy.scope.current_account_id, editable=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounts.account')),
            ],
            options={
                'db_table': 'postponed_rows',
                'abstract': False,
                'base_manager_name': 'objects',
                'indexes': [models.Index(fields=['retry_at'], name='postponed_rows_age')],
                'constraints': [models.UniqueConstraint(fields=('account', 'loop', 'row_id'), name='postponed_rows_row')],
            },
        ),
        IsolateByAccount("postponedrow"),
        prune_function(
            "prune_postponed_rows", table="postponed_rows", time="retry_at", columns="id, account_id, retry_at"
        ),
    ]
