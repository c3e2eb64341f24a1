from commerce.commands import OperatorCommand
from commerce.rest.error_document import make_error_document


class Command(OperatorCommand):
    help = "Prints the document of error codes, docs/errors.md."
    examples = {"error_codes > docs/errors.md": "as `make openapi` does"}

    def handle(self, *args: object, **options: object) -> None:
        self.stdout.write(make_error_document(), ending="")
