from django.db import migrations

from commerce.tenancy.operations import ResolverFunction

API_KEY_EXPIRES_AT = """
CREATE FUNCTION api_key_expires_at(digest bytea) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT expires_at FROM api_keys WHERE secret_hash = digest
$$
"""


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0002_account_id_of'),
    ]

    operations = [
        ResolverFunction(
            "api_key_expires_at(bytea)",
            API_KEY_EXPIRES_AT,
            access=[("api_keys", "SELECT", "secret_hash, expires_at")],
        ),
    ]
