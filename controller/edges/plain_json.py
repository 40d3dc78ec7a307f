"""Any value of ours as strict JSON: what JSON does not have becomes a string, a number or null, never `NaN`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from pathlib import PurePath
from typing import Any


def line(value: Any) -> bytes:
    """One line of JSON, ending in a newline."""
    return json.dumps(plain(value), separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode() + b"\n"


def plain(value: Any) -> Any:
    """Instants in RFC 3339 (UTC), durations in seconds, enums by value, numbers that are not finite as null."""
    match value:
        case Enum():
            return plain(value.value)
        case bool() | int() | str() | None:
            return value
        case float():
            return value if math.isfinite(value) else None
        case datetime() if value.tzinfo is not None:
            return value.astimezone(UTC).isoformat()
        case date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Mapping():
            return {str(plain(key)): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case set() | frozenset():
            return sorted((plain(item) for item in value), key=str)
        case PurePath():
            return str(value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return plain(asdict(value))
        case _:
            raise TypeError(f"{type(value).__name__} has no form in JSON")
