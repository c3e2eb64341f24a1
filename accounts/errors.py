from commerce.errors import Refusal


class HandleTaken(Refusal):
    status = 409
    code = "handle_taken"
    title = "The handle is taken"
    constraints = ("accounts_handle_key", "markets_handle")


class VersionConflict(Refusal):
    """Carries `current_version`."""

    status = 409
    code = "version_conflict"
    title = "The account has changed since it was read"


class MarketExists(Refusal):
    status = 409
    code = "market_exists"
    title = "The account already has a market with this currency, locale, country and domain"
    constraints = ("markets_surface",)


class DomainTaken(Refusal):
    status = 409
    code = "domain_taken"
    title = "Another account has verified this domain as its own"


class AlreadyMember(Refusal):
    status = 409
    code = "already_member"
    title = "The user is already on the staff"
    constraints = ("staff_memberships_once",)


class AlreadyInvited(Refusal):
    status = 409
    code = "already_invited"
    title = "This username has already been invited"
    constraints = ("staff_invitations_once",)
