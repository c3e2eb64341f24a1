from commerce.backoffice.catalogues import LANGUAGES, find_source, list_missing, update, write
from commerce.commands import OperatorCommand


class Command(OperatorCommand):
    help = (
        "Collects the texts of the back office in the catalogues of its languages, and compiles them. "
        "New texts are added without a translation, and those no longer used are removed."
    )
    examples = {"messages": "as `make messages` does; then translate what it counts, and run it again"}

    def handle(self, *args: object, **options: object) -> None:
        for language in LANGUAGES:
            catalog = update(language)
            write(language, catalog)
            missing = list_missing(catalog)
            self.stdout.write(f"{find_source(language)}: {len(catalog)} texts, {len(missing)} to translate.")
