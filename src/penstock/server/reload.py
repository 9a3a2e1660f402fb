"""SIGHUP: the configuration read again, what can change changed, and the rest said. A wrong one changes nothing."""

from __future__ import annotations

from dataclasses import replace

from penstock.broker.embedded import Embedded
from penstock.codecs.policies import encode_policy
from penstock.server.config import Config
from penstock.server.log import Log
from penstock.server.options import LOG_FORMAT, LOG_LEVEL, OPTIONS
from penstock.server.problems import ConfigError
from penstock.server.store import policy_book


def reload(old: Config, log: Log, embedded: Embedded) -> Config:
    """The configuration that holds from now on: changes that need a restart are not in it."""
    try:
        new = old.reloaded()
    except ConfigError as error:
        for problem in error.problems:
            log.error("not reloaded", place=problem.place, problem=problem.words)
        return old
    changed = [key for key in OPTIONS if old.values[key] != new.values[key]]
    now = [key for key in changed if OPTIONS[key].reloads]
    later = [key for key in changed if not OPTIONS[key].reloads]
    kept = {key: old.values[key] for key in later}
    kept_sources = {key: old.sources[key] for key in later}
    held = replace(new, values={**new.values, **kept}, sources={**new.sources, **kept_sources})
    log.configure(held[LOG_FORMAT], held[LOG_LEVEL])
    if policies_said(old) != policies_said(new):
        now.append("policy")
    embedded.rebook(policy_book(held))
    log.info("reloaded", changed=",".join(now), needs_restart=",".join(later))
    return held


def policies_said(config: Config) -> list[tuple[bytes, bytes]]:
    return [(match, encode_policy(policy)) for match, policy in config.policies]
