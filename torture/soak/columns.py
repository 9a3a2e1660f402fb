"""How the rows of a soak are told, a line each."""

from __future__ import annotations

from collections.abc import Callable

from torture.soak.flatness import Row

COLUMNS: tuple[tuple[str, int, Callable[[Row], str]], ...] = (
    ("min", 5, lambda row: f"{row.hours * 60:.1f}"),
    ("server MB", 9, lambda row: f"{row.server_mb:.1f}"),
    ("archivist", 9, lambda row: f"{row.archivist_mb:.1f}"),
    ("own", 6, lambda row: f"{row.own_mb:.1f}"),
    ("p50 µs", 7, lambda row: f"{row.p50_us:,.0f}"),
    ("p99 µs", 8, lambda row: f"{row.p99_us:,.0f}"),
    ("echo p99", 8, lambda row: f"{row.echo_p99_us:,.0f}"),
    ("journal MB", 10, lambda row: f"{row.journal_mb:.1f}"),
    ("at most", 7, lambda row: f"{row.journal_max_mb:.1f}"),
    ("archive MB", 10, lambda row: f"{row.archive_mb:.1f}"),
    ("snapshot", 8, lambda row: f"{row.snapshot}"),
    ("files", 5, lambda row: f"{row.files}"),
    ("threads", 7, lambda row: f"{row.threads}"),
    ("conns", 5, lambda row: f"{row.connections}"),
    ("queues", 6, lambda row: f"{row.queues}"),
    ("live", 6, lambda row: f"{row.live}"),
    ("facts", 10, lambda row: f"{row.facts:,}"),
    ("failed", 8, lambda row: f"{row.failed:,}"),
    ("dropped", 7, lambda row: f"{row.dropped:,}"),
    ("expired", 8, lambda row: f"{row.expired:,}"),
    ("server", 6, lambda row: f"{row.server_share:.0%}"),
    ("asking", 6, lambda row: f"{row.own_share:.0%}"),
    ("others", 6, lambda row: f"{row.others_share:.0%}"),
)
HEAD = "  ".join(head.rjust(width) for head, width, _ in COLUMNS)


def line(row: Row) -> str:
    return "  ".join(told(row).rjust(width) for _, width, told in COLUMNS)
