"""What the site needs beyond MkDocs: Redoc's script, the list of decisions, and links to files that aren't part of it."""

import re
from importlib.util import find_spec
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_DECISIONS = "decisions/"
_SIDECAR = "drf_spectacular_sidecar"
_REDOC = f"static/{_SIDECAR}/redoc/bundles/redoc.standalone.js"
# Redoc loads its maker's logo from there; an empty picture needs no other host.
_LOGO, _NO_LOGO = "https://cdn.redoc.ly/redoc/logo-mini.svg", "data:,"
# `[text](../path)`, where the path leads out of a folder of the documentation.
_OUTSIDE = re.compile(r"\[([^\]]+)\]\((\.\./[^)#]+)\)")


def on_config(config: MkDocsConfig) -> None:
    """Replace the folder of decisions in the navigation by its files."""
    docs = Path(config.docs_dir)
    found = [path.relative_to(docs).as_posix() for path in sorted((docs / _DECISIONS).glob("*.md"))]
    for entry in config.nav or []:
        for title, target in entry.items():
            if target == _DECISIONS:
                entry[title] = found


def on_files(files: Files, *, config: MkDocsConfig) -> None:
    """Add Redoc's script, which comes with the package that the product uses for its own page of the API."""
    sidecar = find_spec(_SIDECAR)
    if sidecar is None or sidecar.origin is None:
        raise PluginError(f"{_SIDECAR} is missing. It is in requirements/docs.txt.")
    script = (Path(sidecar.origin).parent / _REDOC).read_text().replace(_LOGO, _NO_LOGO)
    files.append(File.generated(config, "assets/redoc.standalone.js", content=script))


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Show links to code as text, since the code isn't part of the site. Raises `PluginError` for a missing file."""
    docs = Path(config.docs_dir).resolve()
    folder = (docs / page.file.src_uri).parent

    def replace(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        if target.is_relative_to(docs):
            return link[0]
        if not target.exists():
            raise PluginError(f"{page.file.src_uri} refers to {link[2]}, which does not exist.")
        return f"`{link[1].strip('`')}`"

    return _OUTSIDE.sub(replace, markdown)
