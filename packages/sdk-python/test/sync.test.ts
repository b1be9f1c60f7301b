import assert from "node:assert/strict";
import { test } from "node:test";
import { committedSyncFiles, syncFiles } from "../../../tools/python-sync.ts";

test("the synchronous client is what the asynchronous one makes it: bin/run tools/python-sync.ts", () => {
  assert.deepEqual(committedSyncFiles(), syncFiles());
  for (const [name, text] of syncFiles())
    assert.doesNotMatch(text.split("\n").slice(1).join("\n"), /async|await|aclose/i, name);
});
