from django.db import migrations

from commerce.tenancy.operations import ResolverFunction

ACCOUNT_ID_OF = """
CREATE FUNCTION account_id_of(account_handle text) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT id FROM accounts WHERE handle = account_handle
$$
"""


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0001_initial'),
    ]

    operations = [
        ResolverFunction(
            "account_id_of(text)",
            ACCOUNT_ID_OF,
            access=[("accounts", "SELECT", "id, workspace_id, handle, name, status")],
        ),
    ]
