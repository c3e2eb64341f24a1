"""The expected database catalogue. Tables that aren't account-owned are listed here with the reason."""

# Directory tables have their own policies: who sees a workspace, an account, a key.
DIRECTORY_POLICIES = {
    "workspaces": "(id = current_workspace_id())",
    "accounts": "((id = current_account_id()) OR (workspace_id = current_workspace_id()))",
    "api_keys": "((account_id = current_account_id()) OR ((workspace_id = current_workspace_id()) AND "
    "((account_id IS NULL) OR (current_account_id() IS NULL))))",
    "staff_memberships": "(account_id = current_account_id())",
    "workspace_idempotency_records": "(workspace_id = current_workspace_id())",
}

# Tables without any account's data, each with the reason.
GLOBAL_TABLES = {
    "users": "a person may be staff of several accounts; memberships tie them",
    "users_groups": "Django's own link between users and groups, unused by the roles of memberships",
    "users_user_permissions": "Django's own link between users and permissions, likewise unused",
    "auth_group": "Django's own, empty",
    "auth_group_permissions": "Django's own, empty",
    "auth_permission": "Django's own names of permissions",
    "django_content_type": "Django's own names of models",
    "django_admin_log": "the back office's log of what a user did, shown to nobody else",
    "django_migrations": "Django's own",
    "django_session": "Django's own sessions, unused",
    "staff_sessions": "sessions of the back office, opened before an account is chosen",
    "otp_totp_totpdevice": "a person's authenticator apps; a person may be staff of several accounts",
    "otp_static_staticdevice": "a person's recovery codes, likewise",
    "otp_static_statictoken": "the hashes of those codes",
    "django_otp_webauthn_webauthncredential": "a person's passkeys, likewise",
    "django_otp_webauthn_webauthnattestation": "what a passkey's maker says of it",
    "django_otp_webauthn_webauthnuserhandle": "the random name of a person in passkeys",
    "pickup_points": "a carrier's public reference data, the same for every account",
}

# Ledgers: the serving role may only read and insert, and a trigger refuses changes by anybody.
APPEND_ONLY_TABLES = {
    "discount_redemptions",
    "email_delivery_events",
    "email_template_versions",
    "events",
    "inventory_adjustments",
    "staff_actions",
    "voucher_payment_attempts",
    "voucher_redemptions",
}

# Functions that may look across accounts.
RESOLVER_FUNCTIONS = {
    "account_id_of(text)",
    "account_ids()",
    "api_key_expires_at(bytea)",
    "claim_outbox_dispatches(integer, interval)",
    "claim_outbox_turns(integer, interval, bigint, text, bigint[], text[], integer, integer, text[], integer[], integer)",
    "expired_vouchers(integer)",
    "find_invitation(bytea)",
    "invitations_of(bigint)",
    "is_anothers_domain(text)",
    "methods_with_open_money()",
    "outbox_backlog(integer)",
    "outbox_next_due(interval)",
    "overdue_checkouts(integer)",
    "prune_account_answers(interval, integer, integer)",
    "prune_ended_dispatches(interval, integer, integer, text[])",
    "prune_idempotency_records(interval, integer)",
    "prune_old_deliveries(interval, integer, integer)",
    "prune_outbox_dispatches(interval, integer)",
    "prune_postponed_rows(interval, integer, integer)",
    "prune_webhook_deliveries(interval, integer)",
    "prune_workspace_answers(interval, integer, integer)",
    "resolve_api_key(bytea, text)",
    "resolve_provider_message(text)",
    "shops_of(bigint)",
    "staff_accounts(bigint)",
    "test_card_account(text)",
}

# The only columns that those functions can access, by table and privilege.
RESOLVER_COLUMNS = {
    ("accounts", "SELECT"): {"id", "workspace_id", "handle", "name", "status"},
    ("api_keys", "SELECT"): {
        "id",
        "kind",
        "workspace_id",
        "account_id",
        "scopes",
        "secret_hash",
        "expires_at",
        "revoked_at",
        "last_used_at",
    },
    ("api_keys", "UPDATE"): {"last_used_at"},
    ("checkout_payment_attempts", "SELECT"): {
        "account_id",
        "checkout_id",
        "payment_method",
        "status",
        "gateway_key",
        "paid_late_at",
        "refunded_at",
    },
    ("checkouts", "SELECT"): {"id", "account_id", "phase", "expires_at", "sweep_after"},
    ("email_deliveries", "SELECT"): {"account_id", "provider_message_id"},
    ("idempotency_records", "SELECT"): {"id", "account_id", "created_at"},
    ("orders", "SELECT"): {"account_id", "checkout_id", "status", "payment_status"},
    ("outbox_dispatches", "SELECT"): {
        "id",
        "account_id",
        "target",
        "status",
        "due_at",
        "locked_until",
        "attempts",
        "max_attempts",
        "last_error",
        "finished_at",
    },
    ("outbox_dispatches", "UPDATE"): {"status", "attempts", "locked_until", "finished_at", "last_error"},
    ("postponed_rows", "SELECT"): {"id", "account_id", "loop", "row_id", "retry_at"},
    ("sender_domains", "SELECT"): {"account_id", "domain", "verified_at"},
    ("staff_invitations", "SELECT"): {
        "id",
        "account_id",
        "username",
        "role",
        "own_role_id",
        "token_hash",
        "expires_at",
    },
    ("staff_memberships", "SELECT"): {"account_id", "user_id", "role", "own_role_id"},
    ("staff_roles", "SELECT"): {"id", "account_id", "name", "scopes"},
    ("test_card_payments", "SELECT"): {"account_id", "token"},
    ("users", "SELECT"): {"id", "username", "is_superuser", "is_active"},
    ("vouchers", "SELECT"): {"id", "account_id", "status", "expires_at"},
    ("webhook_deliveries", "SELECT"): {"id", "account_id", "created_at"},
    ("workspace_idempotency_records", "SELECT"): {"id", "created_at"},
}

# References of generated columns, which no field of a model declares.
GENERATED_REFERENCES = {"staff_invitations": {("own_role_id", "staff_roles")}}

# Unique across accounts as documented, so without the account: tokens or names that reveal nothing.
PLATFORM_WIDE_KEYS = {"orders_token", "staff_invitations_token", "vouchers_code"}

# Tables whose rows a resolver function may delete, with that function.
RESOLVER_DELETES = {
    "idempotency_records": "prune_idempotency_records",
    "outbox_dispatches": "prune_ended_dispatches",
    "postponed_rows": "prune_postponed_rows",
    "webhook_deliveries": "prune_webhook_deliveries",
    "workspace_idempotency_records": "prune_idempotency_records",
}
