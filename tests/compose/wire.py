"""Reads just enough of protobuf's wire format and of TFRecord framing to look into a SavedModel without TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from compose.targets.protos.tfserving_signature_pb2 import SignatureDef

META_GRAPHS, SIGNATURE_DEF, META_INFO, TAGS = 2, 5, 1, 4
"""Field numbers of SavedModel, MetaGraphDef (twice) and MetaInfoDef."""
_CRC_POLYNOMIAL, _MASK = 0x82F63B78, 0xA282EAD8


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of each field, in order. Raises `ValueError` where the bytes are no message."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield number, value
            continue
        size, at = _varint(message, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
        if at + size > len(message):
            raise ValueError(f"field {number} ends after the message")
        yield number, message[at : at + size]
        at += size


def only(message: bytes, number: int) -> list[bytes]:
    """The length-delimited values of one field."""
    return [value for field, value in fields(message) if field == number and isinstance(value, bytes)]


def signatures(folder: Path) -> dict[str, SignatureDef]:
    """The signatures of a SavedModel by name, as a server that serves it reads them."""
    (graph,) = only((folder / "saved_model.pb").read_bytes(), META_GRAPHS)
    found = {}
    for entry in only(graph, SIGNATURE_DEF):
        (name,), values = only(entry, 1), only(entry, 2)
        found[name.decode()] = SignatureDef.FromString(values[0])
    return found


def tags(folder: Path) -> list[str]:
    """What the graph is for; a server asks for `serve`."""
    (graph,) = only((folder / "saved_model.pb").read_bytes(), META_GRAPHS)
    return [tag.decode() for info in only(graph, META_INFO) for tag in only(info, TAGS)]


def records(path: Path) -> list[bytes]:
    """The records of a TFRecord file. Raises `ValueError` for a wrong checksum or a torn end."""
    content, found, at = path.read_bytes(), [], 0
    while at < len(content):
        head = content[at : at + 8]
        size = int.from_bytes(head, "little")
        data = content[at + 12 : at + 12 + size]
        _check(head, content[at + 8 : at + 12])
        _check(data, content[at + 12 + size : at + 16 + size])
        found.append(data)
        at += 16 + size
    return found


def _check(data: bytes, told: bytes) -> None:
    crc = _crc32c(data)
    masked = ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF
    if masked.to_bytes(4, "little") != told:
        raise ValueError(f"checksum {told.hex()} does not belong to these {len(data)} bytes")


def _crc32c(data: bytes) -> int:
    """Castagnoli's CRC-32, bit by bit (the records are small)."""
    crc = 0xFFFFFFFF
    for octet in data:
        crc ^= octet
        for _ in range(8):
            crc = crc >> 1 ^ (_CRC_POLYNOMIAL if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(message) or shift > 63:
            raise ValueError("a number ends after the message")
        octet = message[at]
        value |= (octet & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if octet < 0x80:
            return value, at
