from django.db import migrations, models
from django.db.models.functions import Lower

from commerce.tenancy.operations import ResolverFunction

# They name no address to send a link to. Owners invite these people again.
REMOVE_OLD = """
ALTER TABLE staff_invitations NO FORCE ROW LEVEL SECURITY;
DELETE FROM staff_invitations;
ALTER TABLE staff_invitations FORCE ROW LEVEL SECURITY;
"""
FIND_INVITATION = """
CREATE FUNCTION find_invitation(digest bytea)
RETURNS TABLE (account_id bigint, invitation_id bigint, shop_name text, role text, own_role_name text)
LANGUAGE sql STABLE AS $$
    SELECT a.id, i.id, a.name::text, i.role::text, r.name::text
      FROM staff_invitations i
      JOIN accounts a ON a.id = i.account_id
      LEFT JOIN staff_roles r ON r.account_id = i.account_id AND r.id = i.own_role_id
     WHERE i.token_hash = digest AND i.expires_at > now() AND a.status <> 'archived'
$$
"""


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0007_staff_roles'),
    ]

    operations = [
        migrations.RunSQL(REMOVE_OLD, migrations.RunSQL.noop),
        migrations.AlterModelOptions(name='staffinvitation', options={'base_manager_name': 'objects', 'verbose_name': 'invitation'}),
        migrations.AlterField(model_name='staffinvitation', name='username', field=models.CharField(editable=False, max_length=150, null=True)),
        migrations.AddField(model_name='staffinvitation', name='email', field=models.EmailField(max_length=254, null=True)),
        migrations.AddField(model_name='staffinvitation', name='invited_by', field=models.CharField(blank=True, db_default='', max_length=150)),
        migrations.AddField(model_name='staffinvitation', name='token_hash', field=models.BinaryField(max_length=32, null=True)),
        migrations.AddField(model_name='staffinvitation', name='sendings', field=models.PositiveSmallIntegerField(db_default=1, default=1)),
        migrations.AddField(model_name='staffinvitation', name='expires_at', field=models.DateTimeField(null=True)),
        migrations.AddConstraint(
            model_name='staffinvitation',
            constraint=models.UniqueConstraint('account', Lower('email'), name='staff_invitations_email'),
        ),
        migrations.AddConstraint(
            model_name='staffinvitation',
            constraint=models.UniqueConstraint(fields=('token_hash',), name='staff_invitations_token'),
        ),
        ResolverFunction(
            "find_invitation(bytea)",
            FIND_INVITATION,
            access=[
                ("staff_invitations", "SELECT", "id, account_id, role, own_role_id, token_hash, expires_at"),
                ("accounts", "SELECT", "id, workspace_id, handle, name, status"),
                ("staff_roles", "SELECT", "id, account_id, name, scopes"),
            ],
        ),
    ]
