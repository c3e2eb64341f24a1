"""Reads request bodies completely before anything else is done for the request."""

import asyncio
from dataclasses import dataclass
from io import BytesIO
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Self

from commerce.errors import BodyTooLarge, MalformedRequest, Refusal
from commerce.rest.errors import BodyTooSlow, UnsupportedMediaType
from commerce.sizes import MAX_BODY_BYTES

if TYPE_CHECKING:
    from granian.rsgi import Headers, HTTPProtocol

# A body may take longer than the patience only while it arrives faster than this.
MIN_BYTES_PER_S = 1024
# Larger ones are kept on disk.
KEPT_IN_MEMORY = 64 * 1024


class BodyRefused(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.detail)
        self.refusal = refusal

    @classmethod
    def closing(cls, refusal: Refusal) -> Self:
        """The rest of the body isn't read, so the connection is closed, which the answer says."""
        refusal.headers["Connection"] = "close"
        return cls(refusal)


@dataclass(frozen=True, slots=True)
class Body:
    file: IO[bytes]
    length: int

    @classmethod
    def empty(cls) -> Self:
        return cls(BytesIO(), 0)

    @classmethod
    def of(cls, content: bytes) -> Self:
        return cls(BytesIO(content), len(content))

    def close(self) -> None:
        self.file.close()


async def read_body(headers: "Headers", protocol: "HTTPProtocol", *, patience_s: float) -> Body:
    """Raises `BodyRefused` if the body is too large, too slow, in an unknown transfer coding, or ends early."""
    # The server has already refused a length that isn't a number, and two lengths that differ.
    length = None if "transfer-encoding" in headers else int(headers.get("content-length"))
    if length is None and _read_codings(headers, "transfer-encoding") != ["chunked"]:
        raise BodyRefused.closing(MalformedRequest("The only transfer coding that is accepted is chunked."))
    if length is not None and length > MAX_BODY_BYTES:
        raise BodyRefused.closing(BodyTooLarge())
    try:
        # A small body needs no minimum rate: it has to be complete within the patience.
        if length is not None and length <= patience_s * MIN_BYTES_PER_S:
            async with asyncio.timeout(patience_s):
                return Body.of(await protocol())
        return await _read_in_parts(protocol, length, patience_s=patience_s)
    except TimeoutError:
        raise BodyRefused.closing(BodyTooSlow()) from None
    except RuntimeError:  # the server's own errors derive from it
        raise BodyRefused.closing(_make_early_end_refusal()) from None


def require_plain(headers: "Headers") -> None:
    """Raises `BodyRefused` if the body is compressed, or coded in another way."""
    if "content-encoding" in headers and _read_codings(headers, "content-encoding") != ["identity"]:
        raise BodyRefused(UnsupportedMediaType("The body must not be compressed."))


def _read_codings(headers: "Headers", name: str) -> list[str]:
    values = [value for sent, value in headers.items() if sent == name]
    return [coding.strip().lower() for coding in ",".join(values).split(",")]


async def _read_in_parts(protocol: "HTTPProtocol", length: int | None, *, patience_s: float) -> Body:
    file = SpooledTemporaryFile(max_size=KEPT_IN_MEMORY)  # noqa: SIM115  the body closes it
    try:
        received = await _copy_body(protocol, file, length, patience_s=patience_s)
    except BaseException:  # a cancelled task raises no Exception
        file.close()
        raise
    file.seek(0)
    return Body(file, received)


async def _copy_body(
    protocol: "HTTPProtocol", file: IO[bytes], length: int | None, *, patience_s: float
) -> int:
    """Returns how many bytes were received."""
    received = empty_parts = 0
    began = asyncio.get_running_loop().time()
    async with asyncio.timeout(patience_s) as patience:
        async for part in protocol:
            received += len(part)
            empty_parts += not part
            # A chunked body doesn't announce its length, so it can only be refused on the way.
            if received > MAX_BODY_BYTES:
                raise BodyRefused.closing(BodyTooLarge())
            file.write(part)
            patience.reschedule(began + patience_s + received / MIN_BYTES_PER_S)
    # One empty part marks the end. An error makes another, and so do trailer fields, which we don't read.
    if empty_parts > 1 or length not in {None, received}:
        raise BodyRefused.closing(_make_early_end_refusal())
    return received


def _make_early_end_refusal() -> Refusal:
    return MalformedRequest("The body ended before its announced end.")
