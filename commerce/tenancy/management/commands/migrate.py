from django.core.management.base import CommandParser
from django.core.management.commands import migrate


class Command(migrate.Command):
    """Runs Django's command over the connection of the role that owns the tables."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(database="owner")
