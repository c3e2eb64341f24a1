import uuid
from datetime import datetime

from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.db import models

from accounts.staff_models import StaffInvitation, StaffMembership, StaffRole, StaffSession
from commerce.tenancy.models import AccountOwned

__all__ = [
    "Account",
    "ApiKey",
    "Market",
    "StaffInvitation",
    "StaffMembership",
    "StaffRole",
    "StaffSession",
    "User",
    "Workspace",
]


class User(AbstractUser):
    """A person who logs in to the back office. Users are global; memberships connect them to accounts."""

    # Whether they have an app or a passkey for the second step of the log-in. See accounts/operations/two_factor.py.
    has_second_step = models.BooleanField(default=False, db_default=False, editable=False)

    # The language of the back office, such as `de`; empty for the browser's.
    language = models.CharField(max_length=16, blank=True, default="", db_default="", editable=False)

    class Meta(AbstractUser.Meta):
        db_table = "users"


class Workspace(models.Model):
    """A group of accounts of one owner, with keys of its own."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "workspaces"

    def __str__(self) -> str:
        return self.name


class Account(models.Model):
    """One e-shop. Archiving keeps its row, and its handle stays taken."""

    class Status(models.TextChoices):
        ACTIVE = "active"
        SUSPENDED = "suspended"
        ARCHIVED = "archived"

    id = models.BigAutoField(primary_key=True)
    # The index of `accounts_of_workspace` begins with it.
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="accounts", db_index=False)
    handle = models.CharField(max_length=63, unique=True)
    name = models.CharField(max_length=200)
    default_currency = models.CharField(max_length=3)
    default_locale = models.CharField(max_length=16, default="en-US")
    default_timezone = models.CharField(max_length=64, default="UTC")
    country_code = models.CharField(max_length=2, null=True, blank=True)
    vat_number = models.CharField(max_length=32, null=True, blank=True)
    email_from = models.EmailField(null=True, blank=True)
    status = models.CharField(max_length=16, choices=Status, default=Status.ACTIVE)
    version = models.PositiveIntegerField(default=1)
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "accounts"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(handle__regex=r"^[a-z0-9][a-z0-9-]{1,62}$"), name="accounts_handle_form"
            ),
            models.CheckConstraint(
                condition=models.Q(handle__regex=r"[a-z]"), name="accounts_handle_has_letter"
            ),
            models.CheckConstraint(condition=models.Q(version__gte=1), name="accounts_version_positive"),
            models.CheckConstraint(
                condition=models.Q(status="archived", archived_at__isnull=False)
                | ~models.Q(status="archived") & models.Q(archived_at__isnull=True),
                name="accounts_archived_at_with_status",
            ),
            # The target of a key's composite reference, so that a key and its account belong to the same workspace.
            models.UniqueConstraint(fields=["workspace", "id"], name="accounts_of_workspace"),
        ]

    def __str__(self) -> str:
        return self.name


class Market(AccountOwned):
    """A regional selling surface: currency, locale, country, and how prices are shown."""

    class Status(models.TextChoices):
        ACTIVE = "active"
        INACTIVE = "inactive"

    handle = models.CharField(max_length=63)
    name = models.CharField(max_length=200)
    currency = models.CharField(max_length=3)
    locale = models.CharField(max_length=16)
    country_code = models.CharField(max_length=2)
    domain = models.CharField(max_length=253, null=True, blank=True)
    prices_include_tax = models.BooleanField(default=True)
    status = models.CharField(max_length=16, choices=Status, default=Status.ACTIVE)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(AccountOwned.Meta):
        db_table = "markets"
        constraints = [
            models.UniqueConstraint(
                fields=["account", "currency", "locale", "country_code", "domain"],
                # Two markets without a domain would be as indistinguishable as two with the same one.
                nulls_distinct=False,
                name="markets_surface",
            ),
            models.UniqueConstraint(fields=["account", "handle"], name="markets_handle"),
        ]

    def __str__(self) -> str:
        return self.name


class ApiKey(models.Model):
    """A key of one of three kinds. Only the SHA-256 of its secret is kept."""

    class Kind(models.TextChoices):
        WORKSPACE = "workspace"
        ADMIN = "admin"
        STOREFRONT = "storefront"

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.PROTECT, related_name="+")
    account = models.ForeignKey(Account, models.PROTECT, null=True, related_name="+")
    kind = models.CharField(max_length=16, choices=Kind)
    name = models.CharField(max_length=200)
    prefix = models.CharField(max_length=16)
    # A fast hash without salt is enough, and can be looked up: secrets are random and far too long to be guessed.
    secret_hash = models.BinaryField(max_length=32, unique=True)
    scopes = ArrayField(models.CharField(max_length=32), default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    # Written by resolve_api_key() in the database, once a minute at most.
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "api_keys"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind="workspace", account__isnull=True)
                | models.Q(kind__in=["admin", "storefront"], account__isnull=False),
                name="api_keys_account_with_kind",
            ),
            models.CheckConstraint(
                condition=~models.Q(kind="storefront") | models.Q(scopes=[]),
                name="api_keys_storefront_unscoped",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    def is_live(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)
