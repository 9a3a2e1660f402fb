"""PyPI's `rsmqctl`, many commands in one process: words come as JSON, a line each; so do the outcomes."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

from rsmqctl.rsmqctl import cli


def outcome(words: list[str]) -> tuple[object, str, str]:
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        try:
            cli.main(words, prog_name="rsmqctl")
        except SystemExit as end:
            return end.code, out.getvalue(), err.getvalue()
    raise AssertionError("it did not end")


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(outcome(json.loads(line))), flush=True)
