from django.db import models
from django.db.models import Q
from django.utils.translation import gettext as _

from commerce.sizes import KIB, at_most_bytes
from commerce.tenancy.models import AccountOwned


class EmailTemplateVersion(AccountOwned):
    """A change of an account's own template in a locale. Append-only; the newest version is current.

    A reset is a version without a text: from then on the platform's template is used again.
    """

    class Kind(models.TextChoices):
        SAVED = "saved"
        RESTORED = "restored"
        RESET = "reset"

    template_key = models.CharField(max_length=100)
    locale = models.CharField(max_length=16)
    number = models.PositiveIntegerField(help_text="Counts from 1 for each template and locale")
    kind = models.CharField(max_length=16, choices=Kind)
    restored_number = models.PositiveIntegerField(null=True, help_text="The version that this one restored")
    subject = models.TextField(help_text="Liquid; empty for a reset")
    preheader = models.TextField(null=True)
    body_source = models.TextField(help_text="Liquid that becomes MJML; empty for a reset")
    body_text = models.TextField(null=True, help_text="Liquid. Without it, the text is made from the body")
    warnings = models.JSONField(
        default=list, help_text="Warnings of the MJML compiler from when it was saved"
    )
    note = models.CharField(max_length=500, null=True)
    author = models.CharField(max_length=200, help_text="staff:NAME or key:ID")
    created_at = models.DateTimeField()

    class Meta(AccountOwned.Meta):
        db_table = "email_template_versions"
        verbose_name = "email template"
        constraints = [
            models.UniqueConstraint(
                fields=["account", "template_key", "locale", "number"], name="email_template_versions_number"
            ),
            models.CheckConstraint(condition=Q(number__gte=1), name="email_template_versions_counted"),
            models.CheckConstraint(
                condition=Q(kind="reset", subject="", body_source="")
                | ~Q(kind="reset") & ~Q(subject="") & ~Q(body_source=""),
                name="email_template_versions_text",
            ),
            models.CheckConstraint(
                condition=Q(kind="restored", restored_number__isnull=False)
                | ~Q(kind="restored") & Q(restored_number__isnull=True),
                name="email_template_versions_restored",
            ),
            at_most_bytes("warnings", 256 * KIB, name="email_template_versions_warnings_size"),
        ]

    def __str__(self) -> str:
        return _("%(template)s %(locale)s, version %(number)s") % {
            "template": self.template_key,
            "locale": self.locale,
            "number": self.number,
        }

    @property
    def is_reset(self) -> bool:
        return self.kind == self.Kind.RESET
