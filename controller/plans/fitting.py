"""Does the workload of a plan fit its target? Each rule looks only at parts that could be read."""

from __future__ import annotations

from controller.plans.payload_contents import Wanted, problems_in
from controller.plans.payload_keys import FILES
from controller.plans.readers import WRONG
from controller.plans.tables import Fields

_HTTP_ONLY = ("method", "path")
_SERVED_ONLY = ("form", "signature")
_REST_ONLY = ("client", "status", "connect_timeout", "form")
_PLAIN_POOLS = ("npy", "csv", "random")


def workload_fits_target(target: Fields, workload: Fields) -> None:
    """Note what the workload says that has no meaning for this target, or lacks for it."""
    pool = workload.get("payloads")
    source = pool if isinstance(pool, Fields) else None
    if target.get("kind") == "http":
        _fits_http(workload, source)
    else:
        _fits_served(workload, source)
    if workload.get("protocol") == "grpc":
        _fits_grpc(target, workload, source)
    elif "rest" not in target.lines and "grpc" in target.lines:
        workload.refuse("protocol", "rest has no address", "write protocol: grpc, or add target.rest")
    elif "connections" in workload.lines:
        workload.refuse("connections", "has a meaning for protocol grpc only", "remove it: each user has its own")
    if source is not None and source.built is not WRONG:
        _good_throughout(target, workload, source)
    if workload.get("client") == "fast" and (target.get("rest") or "").startswith("unix:"):
        workload.refuse("client", "fast cannot speak over a Unix socket", "write lean")


def _good_throughout(target: Fields, workload: Fields, pool: Fields) -> None:
    """Note every line of a payload file that could not be sent; what was noted already is not said twice."""
    served = target.get("kind") == "tfserving"
    nan = served and workload.get("allow_nan", False) and workload.get("protocol") != "grpc"
    wanted = Wanted(served, pool.get("rows", 1), nan)
    for name in FILES:
        written = pool.get(name)
        if written is None or any(one.key == f"{pool.key}.{name}" for one in pool.findings.problems):
            continue
        try:
            found = problems_in(name, pool.findings.folder / written, wanted)
        except OSError as error:
            pool.refuse(name, f"{written} cannot be read ({error.strerror})", "check its permissions")
            continue
        for one in found:
            pool.refuse(name, f"{written}, {one.where}: {one.what}", one.remedy)


def _fits_http(workload: Fields, pool: Fields | None) -> None:
    for name in _SERVED_ONLY:
        if name in workload.lines:
            workload.refuse(name, "has a meaning for target.kind tfserving only", "remove it")
    recorded = pool is not None and "requests" in pool.lines
    if "path" not in workload.lines and not recorded:
        workload.refuse("path", "is missing", "add the path that target.kind http is posted to, such as /predict")
    for name in _HTTP_ONLY:
        if recorded and name in workload.lines:
            workload.refuse(name, "stands beside recorded requests, which have their own", "remove it")
    random = pool.get("random") if pool is not None else None
    if isinstance(random, Fields) and "from" in random.lines:
        random.refuse("from", "has a meaning for target.kind tfserving only", "give a shape")


def _fits_served(workload: Fields, pool: Fields | None) -> None:
    if "path" in workload.lines:
        workload.refuse("path", "has a meaning for target.kind http only", "remove it: the model's name makes the path")
    if "method" in workload.lines:
        workload.refuse("method", "has a meaning for target.kind http only", "remove it: TF Serving wants a POST")
    for name in ("requests", "body"):
        if pool is not None and name in pool.lines:
            pool.refuse(name, "has a meaning for target.kind http only", "use npy, jsonl, csv or random")


def _fits_grpc(target: Fields, workload: Fields, pool: Fields | None) -> None:
    if target.get("kind") == "http":
        workload.refuse("protocol", "grpc has a meaning for target.kind tfserving only", "write rest")
        return
    if "grpc" not in target.lines:
        workload.refuse("protocol", "grpc has no address", "add target.grpc, such as 127.0.0.1:8500")
    for name in _REST_ONLY:
        if name in workload.lines:
            workload.refuse(name, "has a meaning for protocol rest only", "remove it")
    if pool is not None and "jsonl" in pool.lines:
        pool.refuse("jsonl", "has no types that gRPC could send", f"use one of {', '.join(_PLAIN_POOLS)}")
