from django.db import migrations

CURRENT_ACCOUNT = """
CREATE FUNCTION current_account_id() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT NULLIF(current_setting('commerce.account_id', true), '')::bigint $$;
GRANT EXECUTE ON FUNCTION current_account_id() TO commerce_app, commerce_resolver;
"""

CURRENT_WORKSPACE = """
CREATE FUNCTION current_workspace_id() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT NULLIF(current_setting('commerce.workspace_id', true), '')::uuid $$;
GRANT EXECUTE ON FUNCTION current_workspace_id() TO commerce_app, commerce_resolver;
"""

REFUSE_CHANGE = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation'; END $$;
GRANT EXECUTE ON FUNCTION refuse_change() TO commerce_app;
"""


class Migration(migrations.Migration):
    dependencies = []

    operations = [
        migrations.RunSQL(CURRENT_ACCOUNT, "DROP FUNCTION current_account_id()"),
        migrations.RunSQL(CURRENT_WORKSPACE, "DROP FUNCTION current_workspace_id()"),
        migrations.RunSQL(REFUSE_CHANGE, "DROP FUNCTION refuse_change()"),
    ]
