"""Reads a GGUF file, mapped, without looking at its vocabulary entry by entry, as the ``gguf`` package does.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import mmap
import struct
from pathlib import Path
from typing import Any, NamedTuple

from peer import PeerError

F32, F16, BF16 = 0, 1, 30
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9


class Tensor(NamedTuple):
    """Where a tensor lies: its type's number, its shape with rows first, its offset in the file in bytes."""

    type: int
    shape: tuple[int, ...]
    offset: int


class GgufFile:
    """Metadata and tensors of a file. Arrays in the metadata are skipped, and ``None``."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)  # what torch takes without a warning
        self._at = 4
        version, tensors, entries = (self._scalar(code) for code in "IQQ")
        if version not in (2, 3):
            raise PeerError(f"{path} is of GGUF version {version}: versions 2 and 3 are understood")
        self.metadata: dict[str, Any] = {}
        for _ in range(entries):
            key = self._string()
            self.metadata[key] = self._value(self._scalar("I"))
        found = {}
        for _ in range(tensors):
            name = self._string()
            sizes = [self._scalar("Q") for _ in range(self._scalar("I"))]
            found[name] = Tensor(self._scalar("I"), tuple(reversed(sizes)), self._scalar("Q"))
        alignment = self.metadata.get("general.alignment", 32)
        start = -(-self._at // alignment) * alignment
        self.tensors = {name: t._replace(offset=start + t.offset) for name, t in found.items()}

    def _scalar(self, code: str) -> Any:
        (value,) = struct.unpack_from("<" + code, self.data, self._at)
        self._at += struct.calcsize("<" + code)
        return value

    def _string(self) -> str:
        length = self._scalar("Q")
        self._at += length
        return self.data[self._at - length : self._at].decode("utf-8", "replace")

    def _value(self, kind: int) -> Any:
        if kind == STRING:
            return self._string()
        if kind != ARRAY:
            return self._scalar(SCALARS[kind])
        kind, length = self._scalar("I"), self._scalar("Q")
        if kind in SCALARS:
            self._at += length * struct.calcsize("<" + SCALARS[kind])
        elif kind == STRING:
            size, at, data = struct.Struct("<Q"), self._at, self.data
            for _ in range(length):
                at += 8 + size.unpack_from(data, at)[0]
            self._at = at
        else:
            raise PeerError("an array of arrays in the file's metadata is not understood")
        return None
