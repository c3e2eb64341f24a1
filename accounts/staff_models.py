"""The staff of a shop. `accounts.models` passes these on to Django."""

import hashlib

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models.functions import Cast, Lower

from accounts.roles import BUILT_IN_ROLES, title_of
from commerce.tenancy.models import AccountOwned

# A built-in role by its key, or one of the shop's own by its id.
_ROLE = rf"^({'|'.join(BUILT_IN_ROLES)}|[1-9][0-9]{{0,17}})$"


def _make_role_field() -> models.CharField:
    return models.CharField(max_length=18)


def _make_own_role_field() -> models.GeneratedField:
    """The id of the shop's own role, on which a migration puts a reference to `staff_roles`."""
    return models.GeneratedField(
        expression=models.Case(
            models.When(role__regex="^[0-9]+$", then=Cast("role", models.BigIntegerField()))
        ),
        output_field=models.BigIntegerField(null=True),
        db_persist=True,
        null=True,
    )


class StaffRole(AccountOwned):
    """A role that a shop has made for itself."""

    name = models.CharField(max_length=80)
    scopes = ArrayField(models.CharField(max_length=32))
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta(AccountOwned.Meta):
        db_table = "staff_roles"
        verbose_name = "role"
        constraints = [
            models.UniqueConstraint(fields=["account", "name"], name="staff_roles_name"),
            models.CheckConstraint(condition=models.Q(scopes__len__gt=0), name="staff_roles_has_scopes"),
        ]

    def __str__(self) -> str:
        return self.name


class StaffMembership(models.Model):
    """A user's place among the staff of one account."""

    id = models.BigAutoField(primary_key=True)
    # The index of `staff_memberships_once` begins with it.
    account = models.ForeignKey("accounts.Account", models.CASCADE, related_name="+", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    role = _make_role_field()
    own_role_id = _make_own_role_field()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "staff_memberships"
        constraints = [
            models.UniqueConstraint(fields=["account", "user"], name="staff_memberships_once"),
            models.CheckConstraint(condition=models.Q(role__regex=_ROLE), name="staff_memberships_role"),
        ]

    def __str__(self) -> str:
        return f"{self.user} ({title_of(self.role, own_name=None)})"


class StaffInvitation(AccountOwned):
    """An invitation to the staff, sent by email, for whoever opens its link."""

    # Of an older release, which invited by username.
    username = models.CharField(max_length=150, null=True, editable=False)
    email = models.EmailField(null=True)
    role = _make_role_field()
    own_role_id = _make_own_role_field()
    invited_by = models.CharField(max_length=150, db_default="", blank=True)
    # The SHA-256 of the token in the link that was sent last.
    token_hash = models.BinaryField(max_length=32, null=True)
    sendings = models.PositiveSmallIntegerField(default=1, db_default=1)
    expires_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta(AccountOwned.Meta):
        db_table = "staff_invitations"
        verbose_name = "invitation"
        constraints = [
            models.UniqueConstraint(fields=["account", "username"], name="staff_invitations_once"),
            models.UniqueConstraint("account", Lower("email"), name="staff_invitations_email"),
            # Looked up without knowing the account.
            models.UniqueConstraint(fields=["token_hash"], name="staff_invitations_token"),
            models.CheckConstraint(condition=models.Q(role__regex=_ROLE), name="staff_invitations_role"),
        ]
        indexes = [models.Index(fields=["username"], name="staff_invitations_username")]

    def __str__(self) -> str:
        return self.email or self.username or ""


class StaffSession(AbstractBaseSession):
    """A session of the back office. See accounts/sessions.py.

    Global, as Django's own: a person may be on the staff of several shops.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="+")
    address = models.CharField(max_length=64, blank=True)
    device = models.CharField(max_length=64, blank=True)
    used_at = models.DateTimeField(null=True)

    class Meta(AbstractBaseSession.Meta):
        db_table = "staff_sessions"

    @property
    def number(self) -> int:
        """What pages call the session by, since its key is a secret."""
        return int.from_bytes(hashlib.sha256(self.session_key.encode()).digest()[:7])

    @classmethod
    def get_session_store_class(cls) -> type[SessionBase]:
        from accounts.sessions import SessionStore

        return SessionStore
