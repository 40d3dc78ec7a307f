"""The five calls of Grafana's annotation API that we need, and what each of its answers means."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import requests

from controller.edges.grafana_credential import Credential
from controller.edges.grafana_failure import GrafanaError, Reason
from controller.edges.http_cause import cause, root
from controller.ports import Region
from controller.running.annotation import MARKERS, clean_tags, identity_tags

MILLISECONDS_FROM = 10**12
"""Below this a time was given in seconds: Grafana would take it and draw the region in January 1970."""

COLLECTION = "/api/annotations"
LONGEST_RETRY_AFTER = 300.0


@dataclass(frozen=True, slots=True)
class Stored:
    """An annotation as Grafana shows it; times in epoch milliseconds."""

    id: int
    time: int
    time_end: int


@dataclass(frozen=True, slots=True)
class GrafanaHttp:
    """`connect` and `read` are time limits in seconds for each call."""

    url: str
    credential: Credential
    connect: float
    read: float

    def search(self, region: Region) -> Sequence[Stored]:
        """Our annotations of this region, lowest id first; only those that carry exactly its tags."""
        identity = {region.marker, *identity_tags(region.run_id, region.seq)}
        query = [*(("tags", tag) for tag in sorted(identity)), ("type", "annotation"), ("limit", "100")]
        rows = self._call("GET", COLLECTION, params=query)
        if not isinstance(rows, list):
            raise GrafanaError(Reason.UNEXPECTED, f"could not read annotations from {self.url}: not a list")
        ours = [row for row in rows if isinstance(row, dict) and identity <= _tags(row)]
        return sorted((_stored(row) for row in ours), key=lambda stored: stored.id)

    def post(self, body: Mapping[str, Any]) -> int:
        """Create one annotation; its id."""
        answer = self._call("POST", COLLECTION, json=body)
        return _id(answer.get("id") if isinstance(answer, dict) else None)

    def patch(self, number: int, body: Mapping[str, Any]) -> None:
        """Change the annotation with this id; tags are replaced as a whole."""
        self._call("PATCH", f"{COLLECTION}/{_id(number)}", json=body)

    def delete(self, number: int) -> None:
        """Delete the annotation with this id."""
        self._call("DELETE", f"{COLLECTION}/{_id(number)}")

    def _call(self, method: str, path: str, **content: Any) -> Any:
        doing = f"could not {method} {path} at {self.url}"
        headers = {"Authorization": self._authorization(doing), "Connection": "close", "Cache-Control": "no-cache"}
        try:
            with requests.Session() as session:
                session.trust_env = False  # no proxy, and no .netrc that would replace our credential
                answer = session.request(
                    method,
                    self.url + path,
                    headers=headers,
                    timeout=(self.connect, self.read),
                    allow_redirects=False,
                    **content,
                )
        except requests.ConnectTimeout as error:
            raise GrafanaError(Reason.UNREACHABLE, f"{doing}: no connection within {self.connect:g} s") from error
        except requests.Timeout as error:
            sentence = f"{doing}: no answer within {self.read:g} s"
            raise GrafanaError(Reason.TIMEOUT, sentence, ambiguous=True) from error
        except requests.RequestException as error:
            unsent = isinstance(root(error), ConnectionRefusedError | socket.gaierror)
            raise GrafanaError(Reason.UNREACHABLE, f"{doing}: {cause(error)}", ambiguous=not unsent) from error
        return _content(answer, doing, row=path != COLLECTION)

    def _authorization(self, doing: str) -> str:
        try:
            return self.credential.authorization()
        except (OSError, ValueError) as error:
            raise GrafanaError(Reason.NO_CREDENTIAL, f"{doing}: {error}") from error


def body(region: Region) -> dict[str, Any]:
    """What Grafana is sent for a region. Raises `GrafanaError` (`refused`) for times that cannot be meant."""
    times = []
    for moment in (region.start, region.end):
        if moment.tzinfo is None or (milliseconds := round(moment.timestamp() * 1000)) < MILLISECONDS_FROM:
            raise GrafanaError(Reason.REFUSED, f"region {region.key} has the time {moment}, which cannot be meant")
        times.append(milliseconds)
    tags = clean_tags((MARKERS[0], region.marker, *identity_tags(region.run_id, region.seq), *region.tags))
    start, end = times
    return {
        "time": start,
        "timeEnd": max(end, start + 1),
        "text": region.text or region.key,
        "tags": list(tags),
        "data": {"key": region.key},
    }


def _content(answer: requests.Response, doing: str, *, row: bool) -> Any:
    status, said = answer.status_code, f"{doing}: {answer.status_code} {_said(answer)}"
    match status:
        case 200:
            try:
                return answer.json()
            except ValueError as error:
                raise GrafanaError(
                    Reason.UNEXPECTED, f"{said}: not JSON; is this Grafana's address?", ambiguous=True
                ) from error
        case 400 | 412 | 413 | 422:
            raise GrafanaError(Reason.REFUSED, said)
        case 401:
            raise GrafanaError(Reason.UNAUTHORIZED, f"{said}; renew the token or password file")
        case 403:
            raise GrafanaError(Reason.FORBIDDEN, f"{said}; give the account the role Editor")
        case 404 if row:
            raise GrafanaError(Reason.GONE, said)
        case 429:
            raise GrafanaError(Reason.THROTTLED, said, retry_after=_retry_after(answer))
        case 502 | 503 | 504:
            raise GrafanaError(Reason.UNREACHABLE, said, ambiguous=True, retry_after=_retry_after(answer))
        case _ if status >= 500:
            raise GrafanaError(Reason.SERVER_ERROR, said, ambiguous=True)
        case _:
            raise GrafanaError(
                Reason.UNEXPECTED, f"{said}; is this Grafana's address, with its annotation API?", ambiguous=True
            )


def _stored(row: Mapping[str, Any]) -> Stored:
    start = row.get("time")
    end = row.get("timeEnd")
    return Stored(_id(row.get("id")), start if isinstance(start, int) else 0, end if isinstance(end, int) else 0)


def _tags(row: Mapping[str, Any]) -> set[str]:
    tags = row.get("tags")
    return {tag for tag in tags if isinstance(tag, str)} if isinstance(tags, list) else set()


def _id(value: object) -> int:
    """A usable id. Zero, a missing one or a word must never reach a URL: Grafana has taken 0 for all annotations."""
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise GrafanaError(
            Reason.UNEXPECTED, f"Grafana gave the annotation id {value!r}, which is none", ambiguous=True
        )
    return value


def _said(answer: requests.Response) -> str:
    return " ".join(answer.text[:200].split())


def _retry_after(answer: requests.Response) -> float | None:
    told = answer.headers.get("Retry-After", "").strip()
    try:
        seconds = float(told) if told.isdigit() else (parsedate_to_datetime(told) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return None
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER)
