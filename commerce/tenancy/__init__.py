"""Three nets around every account's rows: the scoped manager, row-level security, composite keys."""
