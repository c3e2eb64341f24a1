"""What the tests of `manage.py reconcile` share."""

from io import StringIO

from django.core.management import CommandError, call_command


def run(*handles):
    """The lines that the command writes, and whether it found all to be well."""
    out = StringIO()
    try:
        call_command("reconcile", *handles, stdout=out, stderr=StringIO())
    except CommandError as error:
        return [*out.getvalue().splitlines(), str(error)], False
    return out.getvalue().splitlines(), True


def found(shop):
    """The lines about the shop."""
    lines, is_well = run(shop.handle)
    assert is_well == (len(lines) == 1)
    return [line.removeprefix(f"{shop.handle}: ") for line in lines[:-1]]


def difference(shop):
    """The one line that is found in the shop's books."""
    (line,) = found(shop)
    return line
