"""A policy as the journal keeps it: JSON with the fields that are said."""

from __future__ import annotations

import json

from penstock.codecs.facts import BadFact
from penstock.codecs.names import parse, show
from penstock.model.policy import POLICY_FIELDS, Past, Policy


def encode_policy(policy: Policy) -> bytes:
    said: dict[str, object] = {}
    for field in POLICY_FIELDS:
        value = getattr(policy, field)
        if value is not None:
            said[field] = show(value) if isinstance(value, bytes) else value
    if policy.past is not None:
        said["past"] = policy.past
    return json.dumps(said, separators=(",", ":")).encode() if said else b""


def decode_policy(data: bytes) -> Policy:
    """Fields of a later version are a BadFact: a policy half understood is not kept."""
    policy = Policy()
    if not data:
        return policy
    for field, value in json.loads(data).items():
        if field == "dead_letter":
            policy.dead_letter = parse(value)
        elif field == "backoff_us":
            policy.backoff_us = tuple(value)
        elif field == "past":
            policy.past = Past(*value)
        elif field in POLICY_FIELDS:
            setattr(policy, field, value)
        else:
            raise BadFact(f"unknown policy field {field!r}")
    return policy
