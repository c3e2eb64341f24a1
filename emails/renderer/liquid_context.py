"""Quicker forms of what a template does most often: looking variables up, assigning them and writing.

They do the same as those of python-liquid, which raises an exception in each namespace that lacks a name, measures all
variables at each assignment, and encodes all that is written to measure it.
"""

from collections.abc import Mapping
from io import StringIO
from sys import getsizeof
from typing import Any, TextIO, cast

from liquid import BoundTemplate, RenderContext, Token
from liquid.exceptions import LocalNamespaceLimitError, OutputStreamLimitError
from liquid.output import LimitedStringIO
from liquid.undefined import UNDEFINED
from liquid.utils import ReadOnlyChainMap

from emails.renderer.limits import MAX_LOCAL_NAMESPACE_BYTES, MAX_OUTPUT_BYTES


class _Names(ReadOnlyChainMap):
    def __getitem__(self, key: str) -> object:
        for names in self._maps:
            if key in names:
                return names[key]
        raise KeyError(key)


class _Buffer(LimitedStringIO):
    def write(self, text: str, /) -> int:
        self.size += len(text) if text.isascii() else len(text.encode())
        if self.size > self.limit:
            raise OutputStreamLimitError("output stream limit reached", token=None)
        return StringIO.write(self, text)


class _Context(RenderContext):
    __slots__ = ("_locals_size", "_sizes")

    def __init__(self, template: BoundTemplate, **options: Any) -> None:
        super().__init__(template, **options)
        self.scope = _Names(*self.scope._maps)  # noqa: SLF001  it has no other way to tell
        self._sizes: dict[str, int] = {}
        self._locals_size = 0

    def get(self, path: list[object], *, token: Token | None, default: object = UNDEFINED) -> object:
        try:
            # What isn't text isn't found.
            found: Any = self.scope[cast("str", path[0])]
            for key in path[1:]:
                found = found[key] if type(found) is dict else self.get_item(found, key)
        except (KeyError, TypeError, IndexError):
            # It knows what else a path may mean, such as the `size` of an object, and what to do without a value.
            return super().get(path, token=token, default=default)
        return found

    def assign(self, key: str, val: Any) -> None:
        self.locals[key] = val
        # As counted before, not as it is now: a text grows when a filter has it encoded, as `date` does with a format.
        replaced = self._sizes.get(key, 0)
        self._sizes[key] = getsizeof(val, 1)
        self._locals_size += self._sizes[key] - replaced
        if self._locals_size > MAX_LOCAL_NAMESPACE_BYTES:
            raise LocalNamespaceLimitError("local namespace limit reached", token=None)

    def get_buffer(self, buf: TextIO | None = None) -> StringIO:
        used = buf.size if isinstance(buf, LimitedStringIO) else 0
        return _Buffer(MAX_OUTPUT_BYTES - used)


class Template(BoundTemplate):
    context_class = _Context

    def make_globals(self, render_args: Mapping[str, object]) -> Mapping[str, object]:
        return {**self.globals, **self.matter, **render_args}

    def _get_buffer(self) -> StringIO:
        return _Buffer(MAX_OUTPUT_BYTES)
