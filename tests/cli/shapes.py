"""Holds what commands print as JSON to the samples that the documentation shows."""

from __future__ import annotations

from typing import Any

from penstock.cli.samples import OPTIONAL, SAMPLES

# Objects whose fields depend on what was said.
FREE = {"policies", "policy", "effective", "sources", "note"}


def assert_documented(command: str, value: Any) -> None:
    _compare(command, SAMPLES[command], value)


def _compare(place: str, sample: Any, value: Any) -> None:
    if isinstance(sample, dict):
        _compare_fields(place, sample, value)
    elif isinstance(sample, list):
        for item in value:
            _compare(f"{place}[]", _nearest(sample, item), item)
    elif place.rpartition(".")[2] != "value":
        assert sample is None or type(value) is type(sample), place


def _compare_fields(place: str, sample: dict[str, Any], value: dict[str, Any]) -> None:
    assert set(value) - OPTIONAL <= set(sample), place
    assert set(sample) - OPTIONAL <= set(value), place
    for name in set(sample) & set(value) - FREE:
        if value[name] is not None or not _may_be_null(name, sample):
            _compare(f"{place}.{name}", sample[name], value[name])


def _may_be_null(name: str, sample: dict[str, Any]) -> bool:
    return name == "live" or name.endswith("_us") or f"{name}_us" in sample


def _nearest(samples: list[Any], item: Any) -> Any:
    """Of several samples in a list, the one with the most fields in common."""
    if not isinstance(item, dict):
        return samples[0]
    return max(samples, key=lambda sample: len(set(sample) & set(item)) - len(set(sample) ^ set(item)))
