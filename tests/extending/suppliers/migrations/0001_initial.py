import django.db.models.deletion
from django.db import migrations, models

import commerce.tenancy.fields
import commerce.tenancy.scope
from commerce.tenancy.operations import IsolateByAccount


class Migration(migrations.Migration):
    initial = True
    dependencies = [("accounts", "0001_initial"), ("inventory", "0001_initial")]
    operations = [
        migrations.CreateModel(
            name="Supplier",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=100)),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        default=commerce.tenancy.scope.current_account_id,
                        editable=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="accounts.account",
                    ),
                ),
                (
                    "location",
                    commerce.tenancy.fields.AccountForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="inventory.location",
                    ),
                ),
            ],
            options={
                "db_table": "suppliers",
                "abstract": False,
                "base_manager_name": "objects",
                "constraints": [
                    models.UniqueConstraint(fields=("account", "name"), name="suppliers_name"),
                ],
            },
        ),
        IsolateByAccount("supplier"),
    ]
