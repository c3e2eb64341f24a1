from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import orjson
from django.utils import timezone

from commerce.commands import OperatorCommand
from config.demo.seeding import has_demo_shops, seed


class Command(OperatorCommand):
    help = (
        "Creates the demo shops once, and writes their ids and keys to a file that only its owner can read."
    )

    examples = {
        "seed_demo --output /var/lib/commerce/seed.json": "name the file in DEMO_SEED; repeated, nothing changes"
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--output", type=Path, required=True, help="the file; kept as it is if the demo shops exist"
        )

    def handle(self, *args: object, **options: Any) -> None:
        output: Path = options["output"]
        if not has_demo_shops():
            # The file is from another installation.
            output.unlink(missing_ok=True)
        # The file is written last. Without it, some of the shops may be missing too.
        if output.exists():
            return
        content = seed(now=timezone.now())
        partial = output.with_suffix(".partial")
        partial.touch(mode=0o600)
        partial.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2))
        partial.replace(output)
