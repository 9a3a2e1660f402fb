"""The page of `glovebox` is true: its examples are requests and answers, its layouts are the bytes, its numbers the
limits."""

from __future__ import annotations

import json
import re

import msgspec
import pytest

from penstock.codecs.glovebox_shapes import DECODER, Request
from penstock.dialects import glovebox_asking, glovebox_words
from penstock.model import limits
from penstock.model.stages import STAGES
from tests.dialects.folders import transcript, transcripts
from tests.dialects.notations import Framed
from tests.dialects.test_pages import page, section

PAGE = page("glovebox")
EXAMPLES = re.findall(r'^    (\{"type":"[a-z]+".+\})$', PAGE, re.MULTILINE)
ANSWERS = re.findall(r'^- `(\{"type":.+?\})`', PAGE, re.MULTILINE) + re.findall(
    r"^\| `(\{.+?\})` \|", PAGE, re.MULTILINE
)
REQUESTS = {struct.__struct_config__.tag for struct in Request.__args__}
LAYOUTS = {
    name: (int(tag), fields.split(" · "))
    for name, tag, fields in re.findall(r"^\| (\w+) \| (\d) \| `(.+)` \|$", PAGE, re.MULTILINE)
}
WIDTHS = {"u8": 1, "u32": 4, "u64": 8}


def of_type(texts: list[str]) -> set[str]:
    return {json.loads(text)["type"] for text in texts}


def said(kind: str) -> list[bytes]:
    """Every frame of the transcripts, its tokens as if they were nothing."""
    frames = [
        part
        for dialect, name in transcripts()
        if dialect == "glovebox"
        for step in transcript(dialect, name).steps
        if step.kind == kind
        for part in step.text
    ]
    texts = [part.text if isinstance(part, Framed) else (part,) for part in frames]
    return [b"".join([part for part in text if isinstance(part, bytes)]) for text in texts]


def test_every_request_stands_on_the_page_as_an_example_that_can_be_read() -> None:
    found = [example for example in EXAMPLES if json.loads(example)["type"] != "notice"]
    assert of_type(found) == REQUESTS
    for example in found:
        DECODER.decode(example)


def test_every_member_of_a_request_is_in_its_examples() -> None:
    members: dict[str, set[str]] = {}
    for example in EXAMPLES:
        request = json.loads(example)
        members.setdefault(request["type"], set()).update(request)
    for struct in Request.__args__:
        fields = {field.encode_name for field in msgspec.structs.fields(struct)}
        assert fields - {"sync"} <= members[struct.__struct_config__.tag], struct


def test_every_answer_on_the_page_is_given_in_a_transcript() -> None:
    heard = b"".join(said("S"))
    for kind in of_type(ANSWERS):
        assert b'{"type":"%s"' % kind.encode() in heard, kind


def test_the_stages_and_codes_on_the_page_are_the_numbers_they_have() -> None:
    assert ", ".join(f"`{stage}` {number}" for number, stage in enumerate(STAGES)) in PAGE
    words = PAGE.replace("\n", " ")
    assert ", ".join(f"`{code}` {number}" for number, code in enumerate(glovebox_words.ERRORS[:3])) in words


@pytest.mark.parametrize("code", glovebox_words.ERRORS)
def test_every_error_on_the_page_is_made_in_a_transcript(code: str) -> None:
    assert f"`{code}`" in section(PAGE, "Errors")
    assert f'"code":"{code}"'.encode() in b"".join(said("S"))


def test_every_key_that_a_refusal_has_is_on_the_page() -> None:
    for _, key in glovebox_asking.REFUSALS.values():
        assert not key or f"`{key.decode()}`" in section(PAGE, "Errors")


def test_answers_in_bincode_are_laid_out_as_the_page_says() -> None:
    sizes = {"Message": 8 + 4 + 8 + 8 + 2 + 1, "Notice": 12, "Hello": 8, "NoMessage": 8, "Error": 8 + 4 + 8 + 3}
    for name, (_, fields) in list(LAYOUTS.items())[5:]:
        kinds = [field.rpartition(" ")[2] for field in fields]
        texts = {"bytes": 8 + 2, "String": 8 + 3}  # `hi`, and `abc`
        assert sum(WIDTHS.get(kind, texts.get(kind, 0)) for kind in kinds) == sizes[name]


def test_the_layouts_have_every_request_and_answer_in_the_order_of_their_tags() -> None:
    names = ["Post", "Fetch", "Finish", "Pop", "Create", "Message", "Notice", "Hello", "NoMessage", "Error"]
    assert list(LAYOUTS) == names
    assert [tag for tag, _ in LAYOUTS.values()] == [0, 1, 2, 3, 4] * 2


@pytest.mark.parametrize(
    "number",
    [
        str(limits.BODY_MAX),
        str(limits.QUEUE_NAME_MAX),
        str(limits.PRIORITY_MIN),
        str(limits.PRIORITY_MAX),
        str(limits.FRAME_MAX),
        str(limits.FRAGMENTS_MAX),
        str(limits.HEAD_MAX),
        f"deeper than {limits.JSON_DEPTH_MAX}",
        f"at most {limits.FRAME_MESSAGES_MAX} messages",
        f"{limits.TAKE_BYTES_MAX} bytes of bodies",
        f"at most {limits.KEPT_MAX} of",
        f"{limits.KEPT_BYTES_MAX} bytes",
        f"At most {limits.ABSENT_MAX} sessions",
        f"below {1 << limits.SEQ_BITS // 2}",
        f"{glovebox_asking.WORK_MAX_US // limits.DAY_US} days",
        f"{glovebox_asking.LEASE_US // limits.SECOND_US} seconds",
    ],
)
def test_the_numbers_on_the_page_are_the_limits(number: str) -> None:
    assert number in PAGE
