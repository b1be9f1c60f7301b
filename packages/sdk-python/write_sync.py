"""Writes the synchronous client, src/signsealship/_sync, from the asynchronous one: python3 write_sync.py"""

import re
import shutil
from pathlib import Path

REPLACEMENTS = (
    (r"\basync (def|for|with)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAwaitable\[(\w+)\]", r"\1"),
    (r"\bAwaitable, ", ""),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\basyncio\b", "time"),
    (r"\baclose\b", "close"),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
)


def write_sync() -> None:
    package = Path(__file__).parent / "src" / "signsealship"
    # A file that _async no longer has must not stay in _sync.
    shutil.rmtree(package / "_sync", ignore_errors=True)
    (package / "_sync").mkdir()
    for source in sorted((package / "_async").glob("*.py")):
        text = source.read_text(encoding="utf-8")
        for pattern, replacement in REPLACEMENTS:
            text = re.sub(pattern, replacement, text)
        head = "# Written from _async by write_sync.py.\n"
        (package / "_sync" / source.name).write_text(head + text, encoding="utf-8")


if __name__ == "__main__":
    write_sync()
