import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { readableLine } from "../../../src/kernel/platform/logs.ts";

const shown = (line: object): string =>
  stripVTControlCharacters(readableLine(JSON.stringify({ level: 30, time: "2026-03-01T10:20:30.400Z", ...line })));

test("a line of the log is shown with its time, its level, its message and its fields", () => {
  const line = shown({ level: 40, msg: "not ready", probe: "blobs", why: "no space" });
  assert.match(line, /^\d\d:\d\d:\d\d warn {2}not ready probe=blobs why="no space"\n$/);
  assert.match(shown({ msg: "Server listening" }), /^\d\d:\d\d:\d\d info {2}Server listening\n$/);
});

test("an error is shown with its origin", () => {
  const line = shown({ level: 50, err: { message: "it broke", stack: "Error: it broke\n    at here" } });
  assert.match(line, /error it broke\n {4}Error: it broke\n {8}at here\n$/);
});

test("the causes of an error are shown below it", () => {
  const cause = { message: "the server is away", cause: { message: "no route" } };
  const line = shown({ level: 50, err: { message: "it broke", stack: "Error: it broke", cause } });
  assert.match(line, /Error: it broke\n {4}Cause: the server is away\n {4}Cause: no route\n$/);
});

test("nothing in the log can control the terminal", () => {
  const line = readableLine(
    JSON.stringify({
      level: 30,
      time: "2026-03-01T10:20:30.400Z",
      msg: "a\u001b[2Jb",
      name: "x\u009b1m",
      err: { stack: "s\u0007", cause: { message: "c\u0007" } },
    }),
  );
  for (const steering of ["\u001b[2J", "\u009b", "\u0007"]) assert.ok(!line.includes(steering), JSON.stringify(line));
});
