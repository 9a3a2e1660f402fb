"""Flag over environment over file over default, option by option; values know their source, problems their place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from penstock.dialects import settings
from penstock.dialects.table import DIALECTS
from penstock.server.config import Config, load
from penstock.server.kinds import Address
from penstock.server.options import (
    CONFIRM,
    CONNECTIONS,
    DATA,
    INSECURE,
    LISTENERS,
    LOG_LEVEL,
    OPTIONS,
    SYNC_INTERVAL_MS,
    Option,
)
from penstock.server.problems import ConfigError

DEFERRED = LISTENERS["deferred"]
IDLE_TIMEOUT = OPTIONS["dialect.deferred.idle_timeout_s"]

# what a flag says, what the environment says, what the file says; and what each of them means
Sayings = tuple[tuple[object, object], tuple[str, object], tuple[str, object]]

# kind of a dialect's setting -> what may be said of it
OF_KIND: Mapping[str, Sayings] = {
    settings.TEXT: (("a", "a"), ("b", "b"), ('"c"', "c")),
    settings.ANY_TEXT: (("", ""), ("b", "b"), ('"c"', "c")),
    settings.SECONDS: (("1", 1_000_000), ("0.5", 500_000), ("2.5", 2_500_000)),
    settings.COUNT: ((1, 1), ("2", 2), ("3", 3)),
    settings.FLAG: ((True, True), ("false", False), ("true", True)),
}
OF_A_LISTENER: Sayings = (
    ("127.0.0.1:1", Address("127.0.0.1", 1)),
    ("[::1]:2", Address("::1", 2)),
    ('"localhost:0"', Address("localhost", 0)),
)

SAYINGS: Mapping[str, Sayings] = {
    "data": (("a", "a"), ("b", "b"), ('"c"', "c")),
    "confirm": (("ready", "ready"), ("write", "write"), ('"sync"', "sync")),
    "broker": (("embedded", "embedded"), ("embedded", "embedded"), ('"embedded"', "embedded")),
    "insecure": ((True, True), ("false", False), ("true", True)),
    "sync_interval_ms": (("1", 1), ("2", 2), ("3", 3)),
    "spin_us": (("1", 1), ("2", 2), ("0", 0)),
    **{f"listen.{row.name}": OF_A_LISTENER for row in DIALECTS},
    **{f"dialect.{row.name}.{one.name}": OF_KIND[one.kind] for row in DIALECTS for one in row.settings},
    "limits.connections": (("1", 1), ("2", 2), ("3", 3)),
    "limits.output_cap_bytes": (("65536", 65_536), ("65537", 65_537), ("65538", 65_538)),
    "limits.segment_bytes": (("65536", 65_536), ("65537", 65_537), ("65538", 65_538)),
    "archive.enabled": ((True, True), ("false", False), ("true", True)),
    "archive.seal_s": (("1", 1_000_000), ("0.5", 500_000), ("0", 0)),
    "archive.without_bodies": (("a, b*", (b"a", b"b*")), ("%FF", (b"\xff",)), ('["c", "d"]', (b"c", b"d"))),
    "limits.disk_free_bytes": (("1", 1), ("2", 2), ("0", 0)),
    "limits.memory_bytes": (("1", 1), ("2", 2), ("0", 0)),
    "journal.snapshot_bytes": (("65536", 65_536), ("65537", 65_537), ("65538", 65_538)),
    "journal.keep_bytes": (("1", 1), ("2", 2), ("0", 0)),
    "archive.keep_days": (("1", 1), ("2", 2), ("0", 0)),
    "log.format": (("human", "human"), ("json", "json"), ('"auto"', "auto")),
    "log.level": (("debug", "debug"), ("warning", "warning"), ('"error"', "error")),
}


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "penstock.toml"
    path.write_text(text)
    return path


def wrong(flags: Mapping[str, object], environ: Mapping[str, str], file: Path | None) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(flags, environ, file)
    return [str(problem) for problem in caught.value.problems]


def wrong_file(tmp_path: Path, text: str) -> list[str]:
    path = written(tmp_path, text)
    return [problem.replace(str(path), "FILE") for problem in wrong({}, {}, path)]


def test_every_option_is_tried_below() -> None:
    assert set(SAYINGS) == set(OPTIONS)


@pytest.mark.parametrize("option", OPTIONS.values(), ids=OPTIONS)
def test_flag_over_environment_over_file_over_default(option: Option[object], tmp_path: Path) -> None:
    (flag, flag_means), (variable, variable_means), (line, line_means) = SAYINGS[option.key]
    file = written(tmp_path, f"{option.key} = {line}")
    flags: dict[str, object] = {option.key: flag}
    environ = {option.environment: variable}
    if option in LISTENERS.values():
        flags = {"listen": [f"{option.key.removeprefix('listen.')}={flag}"]}
    steps: list[tuple[Config, object, str]] = [
        (load({}, {}, None), option.default, "default"),
        (load({}, {}, file), line_means, f"file {file}"),
        (load({}, environ, file), variable_means, f"environment {option.environment}"),
        (load(flags, environ, file), flag_means, "flag"),
    ]
    for config, value, source in steps:
        assert (config[option], config.source(option)) == (value, source)


def test_each_option_is_decided_by_itself(tmp_path: Path) -> None:
    file = written(tmp_path, 'data = "from-file"\nconfirm = "write"\n')
    config = load({"data": "from-flag"}, {"PENSTOCK_SYNC_INTERVAL_MS": "7"}, file)
    assert (config[DATA], config.source(DATA)) == ("from-flag", "flag")
    assert (config[CONFIRM], config.source(CONFIRM)) == ("write", f"file {file}")
    assert (config[SYNC_INTERVAL_MS], config.source(SYNC_INTERVAL_MS)) == (7, "environment PENSTOCK_SYNC_INTERVAL_MS")
    assert (config[LOG_LEVEL], config.source(LOG_LEVEL)) == ("info", "default")


def test_unsaid_flags_say_nothing() -> None:
    config = load({"data": None, "listen": (), "insecure": None}, {}, None)
    assert config.source(DATA) == config.source(INSECURE) == config.source(DEFERRED) == "default"


def test_an_empty_variable_says_nothing() -> None:
    assert load({}, {"PENSTOCK_DATA": ""}, None).source(DATA) == "default"


def test_every_option_can_be_shown_as_toml_and_read_again(tmp_path: Path) -> None:
    shown = "\n".join(f"{key} = {value}" for key, value, _ in load({}, {}, None).rows())
    assert load({}, {}, written(tmp_path, shown)).values == load({}, {}, None).values


def test_the_environment_may_name_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, 'data = "there"')
    assert load({}, {"PENSTOCK_CONFIG": str(file)}, None)[DATA] == "there"


def test_flags_and_variables_are_named_after_the_place_in_the_file() -> None:
    assert IDLE_TIMEOUT.flag == "--dialect-deferred-idle-timeout-s"
    assert IDLE_TIMEOUT.environment == "PENSTOCK_DIALECT_DEFERRED_IDLE_TIMEOUT_S"
    assert DEFERRED.flag == "--listen deferred=HOST:PORT"


# -- listeners


def test_with_no_listener_named_all_open_at_their_defaults() -> None:
    expected = {row.name: Address("127.0.0.1", row.port) for row in DIALECTS}
    assert load({}, {}, None).listeners() == expected


def test_a_named_listener_opens_where_it_is_told() -> None:
    config = load({"listen": ["deferred=[::1]:0"]}, {}, None)
    assert config.listeners() == {"deferred": Address("::1", 0)}


@pytest.mark.parametrize("name", ["admin", "nonsense"])
def test_a_listener_this_version_does_not_have_is_refused(name: str, tmp_path: Path) -> None:
    told = f"this version has no listener `{name}`; it has: {', '.join(row.name for row in DIALECTS)}"
    assert wrong({"listen": [f"{name}=127.0.0.1:1"]}, {}, None) == [f"flag --listen {name}=127.0.0.1:1: {told}"]
    assert wrong_file(tmp_path, f'[listen]\n{name} = "127.0.0.1:1"') == [f"FILE, listen.{name}: {told}"]


def test_a_listener_needs_a_name() -> None:
    assert wrong({"listen": ["127.0.0.1:1"]}, {}, None) == ["flag --listen 127.0.0.1:1: must be NAME=HOST:PORT"]


@pytest.mark.parametrize("address", ["", ":1", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "::1:80"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    (problem,) = wrong({"listen": [f"deferred={address}"]}, {}, None)
    assert problem.startswith("listen.deferred (flag): must ")


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.1", "[::]", "example.org"])
def test_an_address_that_others_can_reach_needs_insecure(host: str) -> None:
    flags = {"listen": [f"deferred={host}:1"]}
    (problem,) = wrong(flags, {}, None)
    assert "can be reached from other machines" in problem
    assert "neither TLS nor authentication" in problem
    assert load({**flags, "insecure": True}, {}, None).listeners()["deferred"].port == 1


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "[::1]", "localhost"])
def test_loopback_needs_nothing(host: str) -> None:
    assert load({"listen": [f"deferred={host}:1"]}, {}, None).listeners()["deferred"].port == 1


# -- problems


def test_all_problems_are_told_at_once_each_with_its_place(tmp_path: Path) -> None:
    text = """
        dat = "x"
        confirm = "snyc"
        sync_interval_ms = "soon"
        limits = 3
        [listen]
        deferred = "nowhere"
        [dialect.deferred]
        queue = 7
        idle_timeout = 5
        [dialect.smoke]
        x = 1
        [limits2]
        [[policy]]
        lease_s = -1
        atempts = 2
    """
    assert wrong_file(tmp_path, text) == [
        "FILE, policy 1, lease_s: must be between 0 and 315,360,000 seconds, not -1",
        "FILE, policy 1, atempts: no such key; did you mean `attempts`?",
        'FILE, policy 1: needs `match`, a queue name or a prefix with a trailing *, such as "orders*"',
        "FILE, dat: no such key; did you mean `data`?",
        "FILE, limits: must be a table, written as [limits]",
        "FILE, dialect.deferred.idle_timeout: no such key; did you mean `idle_timeout_s`?",
        "FILE, dialect.smoke: no such key",
        "FILE, limits2: no such key; did you mean `limits`?",
        'confirm (file FILE): must be "ready", "write" or "sync", not "snyc"',
        'sync_interval_ms (file FILE): must be a whole number, not "soon"',
        'listen.deferred (file FILE): must be HOST:PORT, such as 127.0.0.1:12000 (port 0 picks one), not "nowhere"',
        "dialect.deferred.queue (file FILE): must be text, not 7",
    ]


def test_a_wrong_value_is_told_even_where_it_is_overruled(tmp_path: Path) -> None:
    file = written(tmp_path, "confirm = 3")
    assert wrong({"confirm": "sync"}, {}, file) == [f'confirm (file {file}): must be "ready", "write" or "sync", not 3']


def test_problems_of_flags_and_environment_name_them() -> None:
    assert wrong({"limits.connections": "0"}, {"PENSTOCK_INSECURE": "perhaps"}, None) == [
        'insecure (environment PENSTOCK_INSECURE): must be true or false, not "perhaps"',
        "limits.connections (flag): must be between 1 and 1,000,000, not 0",
    ]


def test_an_unknown_flag_is_a_problem() -> None:
    assert wrong({"dta": "x"}, {}, None) == ["flag dta: no such option; did you mean `data`?"]


def test_a_file_that_is_missing_is_a_problem(tmp_path: Path) -> None:
    missing = tmp_path / "none.toml"
    assert wrong({}, {}, missing) == [f"{missing}: cannot be read: No such file or directory"]


def test_a_file_that_is_not_toml_is_a_problem_with_its_line(tmp_path: Path) -> None:
    (problem,) = wrong_file(tmp_path, 'data = "x"\nconfirm = = 1\n')
    assert problem.startswith("FILE: is not TOML: ")
    assert "line 2" in problem


def test_a_slip_of_the_pen_in_the_environment_is_only_a_warning() -> None:
    config = load({}, {"PENSTOCK_CONFRIM": "ready", "PENSTOCK_PORT_12000_TCP": "tcp://x"}, None)
    assert [str(warning) for warning in config.warnings] == [
        "environment PENSTOCK_CONFRIM: is not read; did you mean `PENSTOCK_CONFIRM`?"
    ]
    assert config[CONFIRM] == "sync"


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "1e99", "x"])
def test_a_duration_that_is_none_is_refused(value: str) -> None:
    (problem,) = wrong({}, {IDLE_TIMEOUT.environment: value}, None)
    assert problem.startswith(f"dialect.deferred.idle_timeout_s (environment {IDLE_TIMEOUT.environment}): must")


def test_a_whole_number_is_not_true() -> None:
    assert wrong({"limits.connections": True}, {}, None) == [
        "limits.connections (flag): must be a whole number, not true"
    ]


def test_it_can_be_read_again_with_the_same_flags(tmp_path: Path) -> None:
    file = written(tmp_path, "[limits]\nconnections = 5")
    config = load({"data": "here"}, {}, file)
    file.write_text("[limits]\nconnections = 6")
    again = config.reloaded()
    assert (config[CONNECTIONS], again[CONNECTIONS], again[DATA]) == (5, 6, "here")
