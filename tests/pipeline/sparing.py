"""Spark's settings where so little is asked that to compile a plan takes longer than to interpret it.

Not everywhere: what runs as people run it, on a cluster and beside a server, has its plans compiled.
"""

from __future__ import annotations

from penstock.pipeline.session import QUICK

SPARING = QUICK | {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


def options(settings: dict[str, str]) -> list[str]:
    """As a command takes them."""
    return [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
