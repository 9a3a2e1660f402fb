"""`make demo`: orders in five languages are published, worked on over a kill -9, poisoned, found by Spark and replayed.

It ends with 0 only if every number adds up.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
from pathlib import Path

from demo.chapters import CHAPTERS
from demo.stage import Stage

HERE = Path(__file__).parent / "data"
PATIENCE_S = 300.0


async def tell(root: Path) -> None:
    stage = Stage(root)
    logging.basicConfig(filename=root / "clients.log", format="%(asctime)s %(name)s %(message)s", level=logging.INFO)
    try:
        async with asyncio.timeout(PATIENCE_S):
            for chapter in CHAPTERS:
                await chapter(stage)
    except BaseException:
        stage.story.say(f"what servers and clients have logged is in {root}")
        raise
    finally:
        stage.premises.leave()
    stage.story.done()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m demo", description="The story of a queue, told step by step.")
    parser.add_argument("directory", nargs="?", type=Path, default=HERE, help="made anew; everything stays in it")
    asyncio.run(tell(parser.parse_args().directory))


if __name__ == "__main__":
    main()
