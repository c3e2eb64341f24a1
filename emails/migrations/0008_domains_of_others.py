from django.db import migrations, models

from commerce.tenancy.operations import ResolverFunction

# For the account in scope. Of two that have verified one domain neither keeps the other from it.
IS_ANOTHERS = """
CREATE FUNCTION is_anothers_domain(wanted text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT COALESCE(bool_or(d.account_id <> current_account_id()), false)
           AND NOT COALESCE(bool_or(d.account_id = current_account_id()), false)
      FROM sender_domains d JOIN accounts a ON a.id = d.account_id
     WHERE d.domain = wanted AND d.verified_at IS NOT NULL AND a.status <> 'archived'
$$
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0006_staff_invitations"),
        ("emails", "0007_sender_domains"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="senderdomain",
            index=models.Index(
                condition=models.Q(("verified_at__isnull", False)),
                fields=["domain"],
                name="sender_domains_verified",
            ),
        ),
        ResolverFunction(
            "is_anothers_domain(text)",
            IS_ANOTHERS,
            access=[
                ("sender_domains", "SELECT", "account_id, domain, verified_at"),
                ("accounts", "SELECT", "id, status"),
            ],
        ),
    ]
