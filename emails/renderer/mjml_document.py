"""Reads MJML into a tree and checks it, with the Python MJML library.

The library repairs what is written carelessly, and finds mistakes with their lines. It doesn't make the HTML here, as
mrml does that in a fiftieth of the time.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import NoReturn

from mjml import parser as mjml_parser
from mjml.core.registry import components_for_invocation
from mjml.node import Node
from mjml.validator import validate_tree

from emails.renderer.message import MjmlWarning
from emails.renderer.problems import InvalidMjml

COMMENT = ""
_COMPONENTS = components_for_invocation(None)
# What XML doesn't allow: mrml refuses the whole document.
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_XML_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")

# By parent: what MJML allows there, but mrml doesn't, so that it is left out (see mjml_skeleton.py).
_LEFT_OUT = {"mj-accordion-element": {COMMENT, "mj-raw"}, "mj-carousel": {COMMENT}}

_Attributes = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Element:
    """An MJML element; a comment has the name `COMMENT`.

    `attributes` are escaped. They include those of the element's classes, and the defaults for its name. `content` is
    the source of an element that holds text or HTML.
    """

    name: str
    attributes: _Attributes
    children: tuple["Element", ...]
    content: str


@dataclass(frozen=True, slots=True)
class Document:
    """`defaults` are the attributes of all elements; `file_start` is HTML that comes before the document."""

    attributes: _Attributes
    head: tuple[Element, ...]
    body: Element
    defaults: _Attributes
    file_start: str


def read_document(mjml: str, *, warnings: list[MjmlWarning] | None) -> Document:
    """Read MJML whose tags balance; without `warnings` to add to, it isn't checked further. Raises `InvalidMjml`."""
    root: Node | None = mjml_parser.parse_document(mjml, _COMPONENTS)
    body = _find(root, "mj-body") if root else None
    if root is None or body is None:
        raise InvalidMjml("There is no <mj-body> in an <mjml>.")
    if warnings is not None:
        warnings += [
            MjmlWarning(line=found.line, tag=found.tag_name, message=found.message)
            for found in validate_tree(root, _COMPONENTS)
        ]
        warnings += _list_left_out(body)
    head = _find(root, "mj-head")
    head_children = head.children if head else ()
    resolver = _Resolver(child for child in head_children if child.tag_name == "mj-attributes")
    return Document(
        attributes=_clean(root.attributes),
        head=tuple(map(_copy, head_children)),
        body=resolver.resolve(body),
        defaults=resolver.defaults.get("mj-all", {}),
        file_start="\n".join(
            child.content
            for child in root.children
            if child.tag_name == "mj-raw" and child.attributes.get("position") == "file-start"
        ),
    )


def _list_left_out(node: Node) -> Iterator[MjmlWarning]:
    for child in node.children:
        if child.tag_name in _LEFT_OUT.get(node.tag_name, ()):
            what = child.tag_name or "a comment"
            yield MjmlWarning(line=child.line, tag=node.tag_name, message=f"{what} inside of it is left out")
        yield from _list_left_out(child)


class _Resolver:
    """Gives elements the attributes of their classes and names, as MJML does. mrml does it differently."""

    def __init__(self, declarations: Iterable[Node]) -> None:
        self.defaults: dict[str, _Attributes] = {}
        self._classes: dict[str, _Attributes] = {}
        # By class and by the name of an element inside of one that has the class.
        self._inside: dict[str, dict[str, _Attributes]] = {}
        for declaration in declarations:
            for child in declaration.children:
                attributes = _clean(child.attributes)
                if child.tag_name != "mj-class":
                    self.defaults[child.tag_name] = attributes
                elif name := attributes.pop("name", ""):
                    self._classes[name] = attributes
                    self._inside[name] = {one.tag_name: _clean(one.attributes) for one in child.children}

    def resolve(self, node: Node, outer_classes: str = "") -> Element:
        own = _clean(node.attributes)
        classes = own.pop("mj-class", None)
        attributes = dict(self.defaults.get(node.tag_name, {}))
        css_classes: list[str] = []
        for name in (classes or "").split():
            found = self._classes.get(name, {})
            attributes.update(found)
            if "css-class" in found:
                css_classes.append(found["css-class"])
        if css_classes:
            attributes["css-class"] = " ".join(css_classes)
        for name in outer_classes.split():
            attributes.update(self._inside.get(name, {}).get(node.tag_name, {}))
        attributes.update(own)
        inner_classes = outer_classes if classes is None else classes
        children = tuple(self.resolve(child, inner_classes) for child in node.children)
        return Element(node.tag_name, attributes, children, node.content)


def _copy(node: Node) -> Element:
    return Element(node.tag_name, _clean(node.attributes), tuple(map(_copy, node.children)), node.content)


def _clean(attributes: Mapping[str, str | bool]) -> dict[str, str]:
    """Attributes as XML allows them. The library makes booleans of `true` and `false`."""
    return {
        name: _NOT_IN_XML.sub("", str(value).lower() if isinstance(value, bool) else value)
        for name, value in attributes.items()
        if _XML_NAME.fullmatch(name)
    }


def _find(parent: Node, name: str) -> Node | None:
    return next((child for child in parent.children if child.tag_name == name), None)


def _refuse_include(*_args: object, **_kwargs: object) -> NoReturn:
    raise InvalidMjml("Includes are not supported.")


_read_attributes = mjml_parser._attributes  # noqa: SLF001  replaced below


def _read_escaped_attributes(raw: str, tag_name: str, attrs: list[tuple[str, str | None]]) -> dict[str, str]:
    return {name: escape(value) for name, value in _read_attributes(raw, tag_name, attrs).items()}


# Two holes of the library are closed here. Its version is pinned, and tests prove that they stay closed.
# It reads any file that an include names.
mjml_parser.include_source = _refuse_include
mjml_parser.read_include_file = _refuse_include
# It unescapes attributes, which go into the HTML as they are, so a variable could end its attribute: `href="{{ url }}"`.
mjml_parser._attributes = _read_escaped_attributes  # noqa: SLF001
