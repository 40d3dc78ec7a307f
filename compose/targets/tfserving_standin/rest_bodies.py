"""Reads the JSON bodies of REST requests: parse errors, signature and format, examples."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from typing import Any

import numpy as np

from .codes import invalid
from .pretty import debug_text
from .signature import DEFAULT_SIGNATURE, Signature, Tensors
from .tensor_json import JSON_TYPES

UNZIPPED_LIMIT = 100 * 2**20
DECODER = json.JSONDecoder()
BLANKS = "\ufeff \t\r\n"
WORDING = (
    ("Expecting value", "Invalid value."),
    ("Expecting property name", "Missing a name for object member."),
    ("Illegal trailing comma", "Missing a name for object member."),
    ("Expecting ':'", "Missing a colon after a name of object member."),
    ("Expecting ','", "Missing a comma or } after an object member."),
    ("Unterminated string", "Missing a closing quotation mark in string."),
    ("Invalid control character", "Invalid encoding in string."),
    ("Invalid \\u", "Incorrect hex digit after \\u escape in string."),
    ("Invalid \\", "Invalid escape character in string."),
)


def unzipped(body: bytes) -> bytes:
    """A gzip body's content; empty if it is not gzip or larger than 100 MiB."""
    try:
        inflater = zlib.decompressobj(wbits=31)
        content = inflater.decompress(body, UNZIPPED_LIMIT)
    except zlib.error:
        return b""
    return content if inflater.eof else b""


def parse_body(body: bytes) -> dict[str, Any]:
    """The JSON object of a request; what follows it is ignored. Raises Failure."""
    if not body:
        raise invalid("JSON Parse error: The document is empty")
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise invalid(f"JSON Parse error: Invalid encoding in string. at offset: {error.start}") from error
    start = 0
    if text[0] != "{":
        start = len(text) - len(text.lstrip(BLANKS))
        if start == len(text):
            raise invalid("JSON Parse error: The document is empty")
    try:
        content, _ = DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise invalid(f"JSON Parse error: {_reworded(error, text)} at offset: {error.pos}") from error
    except RecursionError as error:
        raise invalid("JSON Parse error: nested too deep for the stand-in at offset: 0") from error
    except ValueError as error:  # a number of more digits than Python converts
        raise invalid("JSON Parse error: Number too big to be stored in double. at offset: 0") from error
    if not isinstance(content, dict):
        raise invalid(f"JSON Value: {debug_text(content)} Is not object")
    return content


def signature_name(content: dict[str, Any]) -> str:
    """The signature a request names, or the default one. Raises Failure if it is not a string."""
    if "signature_name" not in content:
        return DEFAULT_SIGNATURE
    name = content["signature_name"]
    if not isinstance(name, str):
        raise invalid(
            f"JSON Value: {debug_text(content)} not formatted correctly. 'signature_name' key must be a string value."
        )
    return name or DEFAULT_SIGNATURE


def examples(content: dict[str, Any]) -> Tensors:
    """The examples of a classify or regress request, each with the context's features. Raises Failure."""
    context = _example(content["context"]) if "context" in content else {}
    if "examples" not in content:
        raise invalid(
            f"JSON Value: {debug_text(content)} When method is classify, key 'examples' is expected and was not found"
        )
    listed = content["examples"]
    if not isinstance(listed, list):
        raise invalid(f"JSON Value: {debug_text(content)} Expecting 'examples' value to be an list/array")
    if not listed:
        raise invalid(f"JSON Value: {debug_text(content)} 'examples' value is an empty array")
    rows = np.empty(len(listed), dtype=object)
    for index, example in enumerate(listed):
        rows[index] = {**context, **_example(example)}
    return {"inputs": rows}


def check_examples_signature(signature: Signature, *, outputs: int, name: str) -> None:
    """Whether a signature takes examples. Raises Failure; `name` is the kind of signature for the message."""
    if len(signature.inputs) != 1:
        raise invalid("Expected one input Tensor.")
    if not 1 <= len(signature.outputs) <= outputs:
        expected = "one output Tensor." if outputs == 1 else "one or two output Tensors"
        raise invalid(f"Expected {expected}" + ("" if outputs == 1 else f", found {len(signature.outputs)}"))
    if "inputs" not in signature.inputs:
        raise invalid(f"No {name} inputs found in SignatureDef: {signature.name}")


def _example(value: Any) -> dict[str, list[Any]]:
    if not isinstance(value, dict):
        kind = "True" if value is True else "False" if value is False else JSON_TYPES[type(value)]
        raise invalid(f"Example must be JSON object but got JSON {kind}")
    return {name: _feature(name, content) for name, content in value.items()}


def _feature(name: str, content: Any) -> list[Any]:
    values = [_feature_value(name, value) for value in (content if isinstance(content, list) else [content])]
    kinds = {type(value) for value in values}
    if len(kinds) > 1:
        expected = {float: "float", int: "int64", bytes: "bytes"}[type(values[0])]
        raise invalid(f"Unexpected element type in feature: {name} expecting type: {expected}")
    return values


def _feature_value(name: str, value: Any) -> float | int | bytes:
    match value:
        case bool():
            return int(value)
        case int():
            if not -(2**63) <= value < 2**63:
                raise invalid(f"Feature: {name} has uint64_t element. Only int64_t is supported.")
            return value
        case float():
            return value
        case str():
            return value.encode("utf-8", "surrogatepass")
        case {"b64": str(packed)} if len(value) == 1:
            try:
                return base64.b64decode(packed, validate=True)
            except (binascii.Error, ValueError) as error:
                raise invalid("Unable to base64 decode") from error
    raise invalid(f"Feature: {name} has element with unexpected JSON type: {JSON_TYPES[type(value)]}")


def _reworded(error: json.JSONDecodeError, text: str) -> str:
    if error.msg.startswith("Expecting ','"):
        before = text[: error.pos]
        if before.rfind("[") > before.rfind("{") and before.count("[") > before.count("]"):
            return "Missing a comma or ] after an array element."
    for start, wording in WORDING:
        if error.msg.startswith(start):
            return wording
    return "Invalid value."
