from functools import partial

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.queries import get_account
from commerce.errors import TooManyOutsideCalls
from commerce.rest.schema import answers, one
from commerce.rest.shapes import Output, TimestampField
from commerce.rest.views import AdminViewSet
from commerce.tenancy.scope import ScopeOpener, account_scope
from emails.errors import EmailFromMissing
from emails.sender_domains.models import SenderDomain
from emails.sender_domains.operations import get_wanted_domain, verify_domain


class SenderRecordOutput(Output):
    type = serializers.ChoiceField(["TXT"], help_text="The type of the record.")
    name = serializers.CharField(help_text="The record's name.")
    value = serializers.CharField(help_text="The record's value.")


class SenderDomainOutput(Output):
    domain = serializers.CharField(help_text="The domain of the shop's `email_from`.")
    status = serializers.ChoiceField(["pending", "verified"], help_text="`pending` or `verified`.")
    record = SenderRecordOutput(help_text="The record to set in the domain's DNS.")
    failure_code = serializers.ChoiceField(
        SenderDomain.Failure.choices,
        allow_null=True,
        help_text="Why it isn't verified: `record_not_found`, or `dns_unavailable` if DNS gave no answer; null if it is verified, or wasn't checked yet.",
    )
    verified_at = TimestampField(allow_null=True, help_text="When the record was found.")
    checked_at = TimestampField(allow_null=True, help_text="When the record was last looked for.")
    missing_since = TimestampField(
        allow_null=True, help_text="Since when a record that was found earlier has been missing."
    )


class SenderDomainViewSet(AdminViewSet):
    """The domain of a shop's `email_from`. Until it is verified, emails leave from the installation's address, with the
    shop's address for replies.
    """

    binding = "workspace"
    area = "accounts"
    # With this binding no account is in scope, so both open one. `verify` looks the record up with no transaction open.
    unscoped_actions = ("retrieve", "verify")

    @answers(one("sender_domain", SenderDomainOutput), refuses=(EmailFromMissing,))
    def retrieve(self, request: Request, id_or_handle: str) -> Response:
        """Show the DNS record of a shop's sender domain.

        What to set in the domain's DNS, and whether it was found.
        """
        with self._find_scope(id_or_handle)():
            return _answer(get_wanted_domain())

    @answers(
        one("sender_domain", SenderDomainOutput),
        request=None,
        refuses=(EmailFromMissing, TooManyOutsideCalls),
    )
    def verify(self, request: Request, id_or_handle: str) -> Response:
        """Look for the DNS record now.

        A domain without the record stays `pending`, and `failure_code` says why.
        """
        scope = self._find_scope(id_or_handle)
        return _answer(verify_domain(scope=scope, now=timezone.now()))

    def _find_scope(self, id_or_handle: str) -> ScopeOpener:
        with self.scope():
            account_id = get_account(id_or_handle).pk
        return partial(account_scope, account_id, workspace_id=self.principal.workspace_id)


def _answer(row: SenderDomain) -> Response:
    shown: dict[str, object] = {
        "domain": row.domain,
        "status": row.status,
        "record": {"type": "TXT", "name": row.record_name, "value": row.record_value},
        "failure_code": row.failure_code or None,
        "verified_at": row.verified_at,
        "checked_at": row.checked_at,
        "missing_since": row.missing_since,
    }
    return Response({"sender_domain": SenderDomainOutput.of(shown)})
