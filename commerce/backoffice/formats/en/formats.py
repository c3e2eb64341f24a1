"""Dates that English readers everywhere read alike. Django's own for `en` are American: "Nov. 2, 2026, 8 p.m."."""

DATE_FORMAT = SHORT_DATE_FORMAT = "j M Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = SHORT_DATETIME_FORMAT = "j M Y, H:i"
