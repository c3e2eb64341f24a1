import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import Cast

import commerce.tenancy.scope
from commerce.tenancy.operations import IsolateByAccount, ResolverFunction

ROLE = '^(owner|manager|support|read_only|[1-9][0-9]{0,17})$'

# Nobody gets more rights than before: "support" could only read, and now has a role with that name that may change
# orders and customers.
CONVERT = """
ALTER TABLE staff_memberships NO FORCE ROW LEVEL SECURITY;
UPDATE staff_memberships SET role = CASE role WHEN 'staff' THEN 'manager' WHEN 'support' THEN 'read_only' ELSE role END;
ALTER TABLE staff_memberships FORCE ROW LEVEL SECURITY;
ALTER TABLE staff_invitations NO FORCE ROW LEVEL SECURITY;
UPDATE staff_invitations SET role = CASE role WHEN 'staff' THEN 'manager' WHEN 'support' THEN 'read_only' ELSE role END;
ALTER TABLE staff_invitations FORCE ROW LEVEL SECURITY;
"""
CONVERT_BACK = """
ALTER TABLE staff_memberships NO FORCE ROW LEVEL SECURITY;
UPDATE staff_memberships SET role = CASE role WHEN 'owner' THEN role WHEN 'manager' THEN 'staff' ELSE 'support' END;
ALTER TABLE staff_memberships FORCE ROW LEVEL SECURITY;
ALTER TABLE staff_invitations NO FORCE ROW LEVEL SECURITY;
UPDATE staff_invitations SET role = CASE role WHEN 'owner' THEN role WHEN 'manager' THEN 'staff' ELSE 'support' END;
ALTER TABLE staff_invitations FORCE ROW LEVEL SECURITY;
"""
REFER = """
ALTER TABLE staff_memberships ADD CONSTRAINT staff_memberships_own_role_id_fk
FOREIGN KEY (account_id, own_role_id) REFERENCES staff_roles (account_id, id);
ALTER TABLE staff_invitations ADD CONSTRAINT staff_invitations_own_role_id_fk
FOREIGN KEY (account_id, own_role_id) REFERENCES staff_roles (account_id, id);
"""
UNREFER = """
ALTER TABLE staff_memberships DROP CONSTRAINT staff_memberships_own_role_id_fk;
ALTER TABLE staff_invitations DROP CONSTRAINT staff_invitations_own_role_id_fk;
"""
# Like `staff_accounts`, which processes of the previous release go on calling, and with what the member may do.
SHOPS_OF = """
CREATE FUNCTION shops_of(asking_user bigint)
RETURNS TABLE (account_id bigint, handle text, name text, status text, role text, own_role_name text, own_scopes text[])
LANGUAGE sql STABLE AS $$
    SELECT a.id, a.handle::text, a.name::text, a.status::text, COALESCE(m.role, 'owner')::text,
           r.name::text, r.scopes::text[]
      FROM users u
      CROSS JOIN accounts a
      LEFT JOIN staff_memberships m ON m.account_id = a.id AND m.user_id = u.id
      LEFT JOIN staff_roles r ON r.account_id = m.account_id AND r.id = m.own_role_id
     WHERE u.id = asking_user AND u.is_active AND (u.is_superuser OR m.user_id IS NOT NULL)
     ORDER BY a.name, a.id
$$
"""


def own_role_id():
    return models.GeneratedField(
        db_persist=True,
        expression=models.Case(models.When(role__regex='^[0-9]+$', then=Cast('role', models.BigIntegerField()))),
        null=True,
        output_field=models.BigIntegerField(null=True),
    )


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0006_staff_invitations'),
    ]

    operations = [
        migrations.CreateModel(
            name='StaffRole',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=80)),
                ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=32), size=None)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('account', models.ForeignKey(db_index=False, default=commerce.tenancy.scope.current_account_id, editable=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounts.account')),
            ],
            options={
                'verbose_name': 'role',
                'db_table': 'staff_roles',
                'abstract': False,
                'base_manager_name': 'objects',
                'constraints': [
                    models.UniqueConstraint(fields=('account', 'name'), name='staff_roles_name'),
                    models.CheckConstraint(condition=models.Q(('scopes__len__gt', 0)), name='staff_roles_has_scopes'),
                ],
            },
        ),
        IsolateByAccount("staffrole"),
        migrations.AlterField(model_name='staffinvitation', name='role', field=models.CharField(max_length=18)),
        migrations.AlterField(model_name='staffmembership', name='role', field=models.CharField(max_length=18)),
        migrations.RunSQL(CONVERT, CONVERT_BACK),
        migrations.AddConstraint(
            model_name='staffinvitation',
            constraint=models.CheckConstraint(condition=models.Q(('role__regex', ROLE)), name='staff_invitations_role'),
        ),
        migrations.AddConstraint(
            model_name='staffmembership',
            constraint=models.CheckConstraint(condition=models.Q(('role__regex', ROLE)), name='staff_memberships_role'),
        ),
        migrations.AddField(model_name='staffinvitation', name='own_role_id', field=own_role_id()),
        migrations.AddField(model_name='staffmembership', name='own_role_id', field=own_role_id()),
        migrations.RunSQL(REFER, UNREFER),
        ResolverFunction(
            "shops_of(bigint)",
            SHOPS_OF,
            access=[
                ("accounts", "SELECT", "id, workspace_id, handle, name, status"),
                ("staff_memberships", "SELECT", "account_id, user_id, role, own_role_id"),
                ("staff_roles", "SELECT", "id, account_id, name, scopes"),
                ("users", "SELECT", "id, is_superuser, is_active"),
            ],
        ),
    ]
