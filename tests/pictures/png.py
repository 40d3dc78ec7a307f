"""A screenshot as a small PNG: as few colours as a page of text and lines needs, one byte a pixel."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOURS = 256
CHANNELS = {2: 3, 6: 4}

Pixels = npt.NDArray[np.uint8]
Predictor = Callable[[int, int, int], int]


def smaller(picture: bytes) -> bytes:
    """The same picture with at most 256 colours: the most frequent ones, every other pixel in the nearest of them."""
    pixels = decode(picture)
    height, width, _ = pixels.shape
    packed = pixels.reshape(-1, 3).astype(np.uint32) @ np.array([65536, 256, 1], dtype=np.uint32)
    colours, inverse, counts = np.unique(packed, return_inverse=True, return_counts=True)
    kept = _spread(colours, counts)
    indexes = _nearest(_channels(colours), _channels(kept))[inverse].astype(np.uint8).reshape(height, width)
    rows = np.concatenate([np.zeros((height, 1), np.uint8), indexes], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    palette = _channels(kept).astype(np.uint8).tobytes()
    parts = ((b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return SIGNATURE + b"".join(_chunk(kind, body) for kind, body in parts)


def decode(picture: bytes) -> Pixels:
    """Rows, columns and three channels of an 8-bit true-colour PNG; ValueError for any other."""
    if picture[:8] != SIGNATURE:
        raise ValueError("could not read the picture: it is not a PNG")
    width = height = channels = 0
    data, at = b"", 8
    while at < len(picture):
        (length,) = struct.unpack_from(">I", picture, at)
        kind, body = picture[at + 4 : at + 8], picture[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack_from(">IIBB", body)
            if depth != 8 or colour not in CHANNELS or body[12]:
                raise ValueError("could not read the picture: it is not 8-bit true colour without interlacing")
            channels = CHANNELS[colour]
        elif kind == b"IDAT":
            data += body
        at += 12 + length
    raw = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + width * channels)
    return _unfiltered(raw, channels).reshape(height, width, channels)[:, :, :3]


def _unfiltered(raw: Pixels, step: int) -> Pixels:
    """Undo PNG's five filters, which predict each byte from its left, upper and upper left neighbour."""
    rows = raw[:, 1:].astype(np.int32)
    above = np.zeros(rows.shape[1], np.int32)
    for kind, row in zip(raw[:, 0], rows, strict=True):
        match int(kind):
            case 0:
                pass
            case 1:
                row[:] = np.cumsum(row.reshape(-1, step), axis=0).ravel() & 255
            case 2:
                row[:] = (row + above) & 255
            case 3:
                _predicted(row, above, step, lambda left, up, _: (left + up) // 2)
            case _:
                _predicted(row, above, step, _paeth)
        above = row
    return rows.astype(np.uint8)


def _predicted(row: npt.NDArray[np.int32], above: npt.NDArray[np.int32], step: int, predict: Predictor) -> None:
    done: list[int] = []
    for place, (value, up) in enumerate(zip(row.tolist(), above.tolist(), strict=True)):
        left, corner = (done[place - step], int(above[place - step])) if place >= step else (0, 0)
        done.append((value + predict(left, up, corner)) & 255)
    row[:] = done


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    near = abs(guess - left), abs(guess - up), abs(guess - corner)
    return (left, up, corner)[near.index(min(near))]


def _spread(colours: npt.NDArray[np.uint32], counts: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
    """The frequent colours, but of those that are nearly the same only the most frequent one."""
    chosen: dict[tuple[int, int, int], int] = {}
    for place in np.argsort(-counts):
        colour = int(colours[place])
        cell = (colour >> 19, colour >> 11 & 31, colour >> 3 & 31)
        chosen.setdefault(cell, colour)
        if len(chosen) == COLOURS:
            break
    return np.array(list(chosen.values()), np.uint32)


def _channels(packed: npt.NDArray[np.uint32]) -> npt.NDArray[np.int32]:
    return np.stack([packed >> 16, packed >> 8 & 255, packed & 255], axis=1).astype(np.int32)


def _nearest(wanted: npt.NDArray[np.int32], kept: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    parts = np.array_split(wanted, max(1, len(wanted) // 4096))
    return np.concatenate([((part[:, None, :] - kept[None]) ** 2).sum(axis=2).argmin(axis=1) for part in parts])


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
