from django.db import migrations

OF_ACCOUNT_OR_WORKSPACE = "account_id = current_account_id() OR workspace_id = current_workspace_id()"
# With an account in scope, a workspace's key sees the keys of that account and of the workspace, no sibling's.
OF_NO_SIBLING = (
    "account_id = current_account_id() OR (workspace_id = current_workspace_id() "
    "AND (account_id IS NULL OR current_account_id() IS NULL))"
)


def policy(condition: str) -> str:
    return f"ALTER POLICY directory_isolation ON api_keys USING ({condition}) WITH CHECK ({condition})"


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_api_key_expires_at"),
    ]

    operations = [
        migrations.RunSQL(policy(OF_NO_SIBLING), policy(OF_ACCOUNT_OR_WORKSPACE)),
    ]
