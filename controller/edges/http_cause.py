"""What really went wrong with a request, without the layers of libraries around it."""

from __future__ import annotations


def root(error: BaseException) -> BaseException:
    """The first error in the chain that led to this one; bounded, whatever refers to whatever."""
    for _ in range(20):
        deeper = error.__cause__ or error.__context__
        if deeper is None:
            break
        error = deeper
    return error


def cause(error: BaseException) -> str:
    """Its text, as `Connection refused` or `Name or service not known`."""
    inner = root(error)
    told = inner.strerror if isinstance(inner, OSError) and inner.strerror else str(inner)
    return told or type(inner).__name__
