"""`penstock doctor`: every check in a row, with a verdict and advice. The checks are in `machine` and `premises`."""

from __future__ import annotations

from typing import Any, Final

import click

from penstock.cli.flags import effective
from penstock.cli.output import JSON, Column, Styled, output_option, print_json, print_table
from penstock.cli.program import FAILED, WithExamples
from penstock.server import exits
from penstock.server.options import DATA

STYLES: Final = {"ok": "green", "warn": "yellow", "fail": "bold red"}


@click.command(cls=WithExamples, examples=["penstock doctor", "penstock doctor --data /var/lib/penstock --output json"])
@click.option("--config", metavar="FILE", help="The server's configuration file.  [env var: PENSTOCK_CONFIG]")
@click.option("--data", metavar="DIR", help=f"The server's data directory.  [env var: {DATA.environment}]")
@output_option
def doctor(output: str, **flags: Any) -> int:
    """Check the machine, the data directory and the server.

    Each row has a verdict, and advice where something could be better. Exits 0 if nothing failed, 1
    otherwise. The disk is measured with a small file in the data directory.
    """
    from penstock.cli.machine import FAIL, check_machine
    from penstock.cli.premises import check_premises

    config = effective(flags)
    checks = [*check_machine(config), *check_premises(config)]
    failed = sum(check.verdict == FAIL for check in checks)
    if output == JSON:
        print_json({"failed": failed, "checks": [check._asdict() for check in checks]})
    else:
        rows = [(check.name, Styled(check.verdict, STYLES[check.verdict]), *check[2:]) for check in checks]
        print_table([Column("check"), Column(""), Column("found", folds=True), Column("advice", folds=True)], rows)
    return FAILED if failed else exits.CLEAN
