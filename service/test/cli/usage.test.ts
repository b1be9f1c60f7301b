import assert from "node:assert/strict";
import { test } from "node:test";
import { runCli } from "@signsealship/testing/service";
import { nearest } from "../../src/cli/nearest.ts";

test("the command line says its version, what a group of verbs has, and which verb was meant", async () => {
  assert.match((await runCli({}, "--version")).stdout, /^\d+\.\d+\.\d+\n$/);
  const group = await runCli({}, "partner");
  assert.equal(group.code, 2);
  assert.match(group.stderr, /partner what\? One of\n.*partner create NAME/s);
  const meant = await runCli({}, "partner", "creat");
  assert.match(meant.stderr, /^signsealship: no such verb: partner creat; did you mean partner create\?\n/);
  assert.match((await runCli({}, "verfy", "x.pdf")).stderr, /no such verb: verfy x\.pdf; did you mean verify\?/);
  assert.match((await runCli({}, "xyz")).stderr, /no such verb: xyz; see bin\/signsealship --help\n$/);
});

test("a name is near when few of its characters differ", () => {
  const names = ["order list", "order move", "key issue"];
  assert.equal(nearest("ordr list", names), "order list");
  assert.equal(nearest("order mvoe", names), "order move");
  assert.equal(nearest("", names), null);
  assert.equal(nearest("something else", names), null);
});
