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
    title = "This address has already been invited"
    constraints = ("staff_invitations_email",)


class LastOwner(Refusal):
    status = 409
    code = "last_owner"
    title = "The shop needs an owner: make somebody else one first"


class RoleExists(Refusal):
    status = 409
    code = "role_exists"
    title = "The shop already has a role with this name"
    constraints = ("staff_roles_name",)


class RoleInUse(Refusal):
    status = 409
    code = "role_in_use"
    title = "Members or invitations have this role: give them another one first"
    constraints = ("staff_memberships_own_role_id_fk", "staff_invitations_own_role_id_fk")
