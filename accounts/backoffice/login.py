"""Log-in to the back office, with limits on failed attempts.

Guessing a password locks out the guesser's address, not the user: reaching the limit per username takes a dozen
addresses, and it lasts only a minute.
"""

from django.core.exceptions import ValidationError
from django.utils.translation import ngettext
from unfold.forms import AuthenticationForm

from commerce.attempts import Counter, Limit, begin_attempt, digest, undo_attempt
from commerce.client_address import client_address

PER_NAME_AND_ADDRESS = Limit(5, 15 * 60)
PER_ADDRESS = Limit(50, 15 * 60)
PER_NAME = Limit(60, 60)
_LIMITS = (PER_NAME_AND_ADDRESS, PER_ADDRESS, PER_NAME)


class LoginForm(AuthenticationForm):
    """The log-in form; `wait_s` is the number of seconds for which log-in stays locked."""

    wait_s = 0

    def clean(self) -> dict[str, object]:
        name, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if not name or not password:
            return super().clean()
        counters = list_counters(name, client_address(self.request))
        # Counted before the password is checked: otherwise many attempts sent at once would all pass the limit.
        self.wait_s = begin_attempt(counters)
        if self.wait_s:
            minutes = -(-self.wait_s // 60)
            text = ngettext(
                "Too many failed log-in attempts. Try again in a minute.",
                "Too many failed log-in attempts. Try again in %(minutes)d minutes.",
                minutes,
            )
            raise ValidationError(text % {"minutes": minutes}, code="too_many_attempts")
        cleaned = super().clean()
        undo_attempt(counters)
        return cleaned


def list_counters(name: str, address: str) -> list[Counter]:
    person, place = digest(name.casefold()), digest(address)
    per_pair, per_address, per_name = _LIMITS
    return [
        # The others aren't cleared: whoever knows one password could go on guessing others from the same address.
        Counter(f"login:{person}:{place}", per_pair, is_cleared_by_success=True),
        Counter(f"login:address:{place}", per_address),
        Counter(f"login:name:{person}", per_name),
    ]
