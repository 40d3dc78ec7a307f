"""Draw the report of a run: `python -m dashboards.report --help`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dashboards.disk import put
from dashboards.load_test import BOARD
from dashboards.promql import literal
from dashboards.report import exact
from dashboards.report.fetch import Span, fetch
from dashboards.report.page import render_report
from dashboards.report.record import RecordError, Run, read
from dashboards.report.series import FILE, Answers, keep, kept

EXAMPLE = """examples:
  python -m dashboards.report --run runs/demo-1 --prometheus http://127.0.0.1:9090
  python -m dashboards.report --run runs/demo-1      draw again from the series kept in the run's folder
"""


def main(arguments: list[str] | None = None) -> int:
    """0: written; 2: the record cannot be read or the report not be written."""
    options = _options(arguments)
    try:
        run = read(options.run / "record.json")
        answers, why_not = _answers(options.run, run, options.prometheus, options.scrape_interval)
        output = options.output or options.run / "report.html"
        put(output, render_report(run, BOARD, exact.read(options.run), answers, why_not).encode())
    except RecordError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"could not write the report of {options.run}: {error}", file=sys.stderr)
        return 2
    print(output)
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m dashboards.report",
        description="Draw the report of an archived run.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--run", type=Path, required=True, metavar="FOLDER", help="the run's folder, with record.json")
    parser.add_argument("--prometheus", metavar="URL", help=f"fetch the series from it and keep them in {FILE}")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: report.html in the run's folder")
    parser.add_argument(
        "--scrape-interval", type=float, default=5.0, metavar="SECONDS", help="Prometheus's (default: %(default)s)"
    )
    return parser.parse_args(arguments)


def _answers(folder: Path, run: Run, url: str | None, scrape_interval: float) -> tuple[Answers | None, str]:
    """Fresh series if there is a Prometheus that has any, else the kept ones, else None and why."""
    earlier = kept(folder)
    if url is None:
        return earlier, f"no Prometheus was given, and {FILE} in the run's folder holds no series."
    start, end = run.span
    span = Span(start - 2 * scrape_interval, end + 2 * scrape_interval, scrape_interval)
    fresh = fetch(url, BOARD, span, {"plan": literal(run.plan.name)})
    if any(answer.lines for answer in fresh.answers):
        keep(folder, fresh)
        return fresh, ""
    failure = next((answer.failure for answer in fresh.answers if answer.failure), None)
    return earlier, f"{failure}." if failure else f"{fresh.source} has no series of the time of this run."


if __name__ == "__main__":
    sys.exit(main())
