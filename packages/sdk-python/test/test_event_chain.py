"""The chain of events, by the vectors of its documentation."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import unittest
from pathlib import Path

from signsealship import CHAIN_START, ChainFault, Place, check_chain, parse_chain

found = re.search(r"```json\n(.*?)```", Path(os.environ["CHAIN_PAGE"]).read_text("utf-8"), re.DOTALL)
assert found is not None


@dataclasses.dataclass(frozen=True)
class Event:
    position: int
    head: str
    type: str
    id: str


first, second, third = (Event(**members) for members in json.loads(found[1]))


class EventChainTest(unittest.TestCase):
    def test_the_chain_holds_from_its_start_and_from_any_place_in_it(self) -> None:
        self.assertEqual(check_chain([first, second, third]), (Place(third.position, third.head), None))
        self.assertIsNone(check_chain([third], Place(second.position, second.head))[1])
        self.assertEqual(check_chain([]), (CHAIN_START, None))

    def test_a_missing_event_is_a_gap_and_a_changed_one_or_a_changed_past_is_seen(self) -> None:
        self.assertEqual(check_chain([first, third])[1], ChainFault("gap", 2))
        self.assertEqual(check_chain([first, first])[1], ChainFault("gap", 2))
        changed = dataclasses.replace(second, id=second.id + "0")
        self.assertEqual(
            check_chain([first, changed, third]), (Place(first.position, first.head), ChainFault("head", 2))
        )
        self.assertEqual(check_chain([second], Place(1, third.head))[1], ChainFault("head", 2))

    def test_the_header_is_read_as_it_is_written_and_in_no_other_form(self) -> None:
        head = first.head
        self.assertEqual(parse_chain(f"n=42; head={head}"), Place(42, head))
        self.assertEqual(parse_chain(f"n=42; head={head}; later=1"), Place(42, head))
        for header in (None, "", "n=1", f"n=0; head={head}", f"n=01; head={head}", f"n=1; head={head}0"):
            self.assertIsNone(parse_chain(header))


if __name__ == "__main__":
    unittest.main()
