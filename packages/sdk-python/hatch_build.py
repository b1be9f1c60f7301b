"""Writes the synchronous client before hatchling collects the files of a wheel."""

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class SyncClient(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        runpy.run_path(str(Path(self.root) / "write_sync.py"), run_name="__main__")
