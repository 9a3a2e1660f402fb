"""`penstock dead list` against a real server."""

from __future__ import annotations

from tests.cli.conftest import Scene, Shell


def test_the_list_tells_what_died_and_where(shell: Shell, scene: Scene) -> None:
    (died,) = scene.kill("a\nb", flags=("--key", "k"))
    head, row = shell.text("dead", "list", scene.dead).splitlines()
    assert head.split() == ["id", "died", "of", "from", "priority", "key", "body"]
    assert row.endswith("0  k    a\\nb")
    assert (died in row, scene.queue in row) == (True, True)
    (letter,) = shell.json("dead", "list", scene.dead)["messages"]
    assert (letter["dead_of"], letter["dead_from"], letter["key"]) == (died, scene.queue, "k")


def test_the_list_can_be_sieved_and_is_not_endless(shell: Shell, scene: Scene) -> None:
    scene.kill("apple", "banana", "cherry")
    listed = shell.json("dead", "list", scene.dead, "--contains", "an", "--matches", "^b", "--from", scene.queue)
    assert [letter["body"] for letter in listed["messages"]] == ["banana"]
    assert shell.json("dead", "list", scene.dead, "--older-than", "1h")["messages"] == []
    result = shell("dead", "list", scene.dead, "--limit", "2")
    assert len(result.stdout.splitlines()) == 3
    assert result.stderr == "There may be more; these are the first 2.\n"


def test_a_queue_without_dead_letters_tells_where_they_go(shell: Shell, scene: Scene) -> None:
    result = shell("dead", "list", scene.queue)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"No such dead letters.\nThe dead letters of {scene.queue} go to {scene.dead}.\n"
