"""Passes bytes on between two addresses; while a file is there, those to the second one come 40 ms later."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from pathlib import Path

LATER_SECONDS = 0.04
MOST_SECONDS = 180.0


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, slow: Path | None) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            if slow is not None and slow.exists():
                await asyncio.sleep(LATER_SECONDS)
            writer.write(data)
            await writer.drain()
    writer.close()


async def _serve(listen: tuple[str, int], to: tuple[str, int], slow: Path | None) -> None:
    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(*to)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_pass(reader, far_writer, slow), _pass(far_reader, writer, None))

    server = await asyncio.start_server(relay, *listen)
    with contextlib.suppress(TimeoutError):
        async with server, asyncio.timeout(MOST_SECONDS):
            await server.serve_forever()


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host, int(port)


def main() -> None:
    """Until killed, at most three minutes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("listen", type=_address)
    parser.add_argument("to", type=_address)
    parser.add_argument("--slow-while", type=Path)
    arguments = parser.parse_args()
    asyncio.run(_serve(arguments.listen, arguments.to, arguments.slow_while))


if __name__ == "__main__":
    main()
