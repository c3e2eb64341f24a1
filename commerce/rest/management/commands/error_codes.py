from django.core.management.base import BaseCommand

from commerce.rest.error_document import make_error_document


class Command(BaseCommand):
    help = "Prints the document of error codes, docs/errors.md."

    def handle(self, *args: object, **options: object) -> None:
        self.stdout.write(make_error_document(), ending="")
