"""The second step of the log-in: authenticator apps, passkeys, and recovery codes for when the device is lost.

`User.has_second_step` tells whether somebody has an app or a passkey, so that no request has to look for them.
"""

import secrets
from collections.abc import Callable

from django.db import transaction
from django.utils.crypto import salted_hmac
from django_otp import verify_token
from django_otp.models import Device
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_otp_webauthn.models import WebAuthnCredential

from accounts.models import StaffMembership, User
from commerce.backoffice.history import record_operator
from commerce.backoffice.models import StaffAction
from commerce.tenancy.scope import account_scope, current_account_id, list_account_ids

RECOVERY_CODES = 10
# Without letters and digits that look alike. Ten of them are 49 random bits.
_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


def begin_app(*, user: User, name: str) -> TOTPDevice:
    """Create an authenticator app's secret. It counts once a code of the app has been confirmed."""
    TOTPDevice.objects.filter(user=user, confirmed=False).delete()
    return TOTPDevice.objects.create(user=user, name=name, confirmed=False)


def find_unconfirmed_app(user: User) -> TOTPDevice | None:
    return TOTPDevice.objects.filter(user=user, confirmed=False).first()


def confirm_app(*, user: User, code: str) -> TOTPDevice | None:
    """Confirm the app that was begun last by one of its codes. Returns None for a wrong code."""
    begun = find_unconfirmed_app(user)
    if begun is None:
        return None
    with transaction.atomic():
        verified = verify_token(user, begun.persistent_id, code)
        if verified is None:
            return None
        TOTPDevice.objects.filter(pk=begun.pk).update(confirmed=True)
        note_enrolled(user)
    return verified


def note_enrolled(user: User) -> None:
    """Note that somebody has an app or a passkey, for passkeys after the library has stored one."""
    User.objects.filter(pk=user.pk).update(has_second_step=True)
    user.has_second_step = True


def list_apps(user: User) -> list[TOTPDevice]:
    return list(TOTPDevice.objects.filter(user=user, confirmed=True).order_by("pk"))


def list_passkeys(user: User) -> list[WebAuthnCredential]:
    return list(WebAuthnCredential.objects.filter(user=user, confirmed=True).order_by("pk"))


def count_recovery_codes(user: User) -> int:
    return StaticToken.objects.filter(device__user=user).count()


def make_recovery_codes(*, user: User) -> list[str]:
    """Make new recovery codes and return them, to be shown once. Earlier ones end."""
    codes = [_make_code() for _ in range(RECOVERY_CODES)]
    with transaction.atomic():
        StaticDevice.objects.filter(user=user).delete()
        device = StaticDevice.objects.create(user=user, name="Recovery codes")
        StaticToken.objects.bulk_create(StaticToken(device=device, token=_hash_code(code)) for code in codes)
    return codes


def check_code(*, user: User, typed: str) -> Device | None:
    """Return the device that accepts a typed code, which then works no more. django-otp slows repeated failures down."""
    text = "".join(typed.split()).replace("-", "").lower()
    apps = TOTPDevice.objects.filter(user=user, confirmed=True)
    if text.isdecimal() and len(text) == 6:
        candidates: list[tuple[Device, str]] = [(app, text) for app in apps]
    else:
        candidates = [(device, _hash_code(text)) for device in StaticDevice.objects.filter(user=user)]
    found = (verify_token(user, device.persistent_id, token) for device, token in candidates)
    return next((device for device in found if device is not None), None)


def remove_device(*, user: User, kind: str, device_id: int) -> bool:
    """Remove one of the person's apps (`app`) or passkeys (`passkey`). Recovery codes go with the last of them."""
    models: dict[str, type[Device]] = {"app": TOTPDevice, "passkey": WebAuthnCredential}
    with transaction.atomic():
        removed, _ = models[kind].objects.filter(user=user, pk=device_id).delete()
        if not any(_find(user) for _find in _FINDERS):
            _forget_all(user)
    return bool(removed)


def reset_second_step(*, user: User) -> bool:
    """Remove all devices and codes of somebody who has lost them. Returns whether there were any."""
    with transaction.atomic():
        had = User.objects.filter(pk=user.pk, has_second_step=True).exists()
        _forget_all(user)
    return had


def reset_by_operator(*, user: User) -> bool:
    """Like `reset_second_step`, written to the log of each shop that the person is on the staff of.

    Call it outside of any scope.
    """
    had = reset_second_step(user=user)
    if had:
        for account_id in list_account_ids():
            with account_scope(account_id):
                _log_reset(user)
    return had


def _log_reset(user: User) -> None:
    membership = StaffMembership.objects.filter(account_id=current_account_id(), user=user).first()
    if membership is not None:
        record_operator(membership, StaffAction.Kind.CHANGED, "reset the second step of the log-in")


def _forget_all(user: User) -> None:
    for model in (TOTPDevice, StaticDevice, WebAuthnCredential):
        model.objects.filter(user=user).delete()
    User.objects.filter(pk=user.pk).update(has_second_step=False)
    user.has_second_step = False


_FINDERS: tuple[Callable[[User], list[Device]], ...] = (list_apps, list_passkeys)


def _make_code() -> str:
    text = "".join(secrets.choice(_ALPHABET) for _ in range(10))
    return f"{text[:5]}-{text[5:]}"


def _hash_code(code: str) -> str:
    """Hash a recovery code with the secret key, as it is short enough to be guessed from a plain hash."""
    return salted_hmac("accounts.recovery", code.replace("-", ""), algorithm="sha256").hexdigest()[:16]
