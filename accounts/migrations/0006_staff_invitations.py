import django.contrib.auth.validators
import django.db.models.deletion
from django.db import migrations, models

import commerce.tenancy.scope
from commerce.tenancy.operations import IsolateByAccount, ResolverFunction

STAFF_INVITATIONS = """
CREATE FUNCTION invitations_of(asking_user bigint)
RETURNS TABLE (account_id bigint, handle text, name text, role text)
LANGUAGE sql STABLE AS $$
    SELECT a.id, a.handle::text, a.name::text, i.role::text
      FROM users u
      JOIN staff_invitations i ON i.username = u.username
      JOIN accounts a ON a.id = i.account_id
     WHERE u.id = asking_user AND u.is_active AND a.status <> 'archived'
     ORDER BY i.id DESC LIMIT 50
$$
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_domains_bind_nobody"),
    ]

    operations = [
        migrations.CreateModel(
            name="StaffInvitation",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "username",
                    models.CharField(
                        max_length=150,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[("owner", "Owner"), ("staff", "Staff"), ("support", "Support")],
                        default="staff",
                        max_length=16,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
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
            ],
            options={
                "db_table": "staff_invitations",
                "abstract": False,
                "base_manager_name": "objects",
                "indexes": [models.Index(fields=["username"], name="staff_invitations_username")],
                "constraints": [
                    models.UniqueConstraint(fields=("account", "username"), name="staff_invitations_once")
                ],
            },
        ),
        IsolateByAccount("staffinvitation"),
        ResolverFunction(
            "invitations_of(bigint)",
            STAFF_INVITATIONS,
            access=[
                ("staff_invitations", "SELECT", "id, account_id, username, role"),
                ("users", "SELECT", "id, username, is_active"),
                ("accounts", "SELECT", "id, handle, name, status"),
            ],
        ),
    ]
