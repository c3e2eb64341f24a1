from django.db import migrations

from commerce.loops.pruning import prune_function


class Migration(migrations.Migration):

    dependencies = [
        ('loops', '0001_initial'),
        ('rest', '0001_initial'),
    ]

    operations = [
        prune_function(
            "prune_account_answers",
            table="idempotency_records",
            time="created_at",
            columns="id, account_id, created_at",
        ),
        prune_function(
            "prune_workspace_answers",
            table="workspace_idempotency_records",
            time="created_at",
            columns="id, created_at",
            is_account_owned=False,
        ),
    ]
