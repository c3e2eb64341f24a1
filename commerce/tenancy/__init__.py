"""Isolates accounts in three layers: the scoped manager, row-level security, and composite keys."""
