from __future__ import annotations

import uuid

import pytest

from core.errors import InvalidRequest
from core.threads.ids import new_id, thread_id_of

ID = "67e55044-10b1-426f-9247-bb680e5fe0c8"


def test_new_ids_sort_by_time_and_are_version_7() -> None:
    older, newer = new_id(1000.0), new_id(1000.001)
    assert older < newer
    assert uuid.UUID(newer).version == 7
    assert uuid.UUID(newer).variant == uuid.RFC_4122


@pytest.mark.parametrize(
    "text", [ID, ID.upper(), ID.replace("-", ""), f"urn:uuid:{ID}", f"{{{ID}}}"]
)
def test_every_spelling_of_a_uuid_means_the_same_thread(text: str) -> None:
    assert thread_id_of(text) == ID


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "invalid length: expected length 32 for simple format, found 0"),
        ("1234", "invalid length: expected length 32 for simple format, found 4"),
        (
            "x",
            "invalid character: expected an optional prefix of `urn:uuid:` followed by "
            "[0-9a-fA-F-], found `x` at 1",
        ),
        (
            ID[:-2] + "é8",
            "invalid character: expected an optional prefix of `urn:uuid:` followed by "
            "[0-9a-fA-F-], found `é` at 35",
        ),
        (
            "urn:uuid:zz",
            "invalid character: expected an optional prefix of `urn:uuid:` followed by "
            "[0-9a-fA-F-], found `z` at 10",
        ),
        (ID[:23], "invalid group count: expected 5, found 4"),
        (f"urn:uuid:{ID.replace('-', '')}", "invalid group count: expected 5, found 1"),
        (f"{{{ID.replace('-', '')}}}", "invalid group count: expected 5, found 1"),
        (ID[1:], "invalid group length in group 0: expected 8, found 7"),
        (f"{ID}1", "invalid group length in group 4: expected 12, found 13"),
    ],
)
def test_text_that_is_no_uuid_is_refused_in_the_real_words(text: str, fault: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        thread_id_of(text)
    assert caught.value.message == f"invalid thread id: {fault}"
