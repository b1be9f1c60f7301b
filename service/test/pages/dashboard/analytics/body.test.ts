import assert from "node:assert/strict";
import { test } from "node:test";
import type { Snapshot } from "../../../../src/orders/analytics/analytics.ts";
import { analyticsBody, windowPicker } from "../../../../src/pages/dashboard/analytics/page.ts";
import { render } from "../../../../src/pages/ui/render.ts";
import { empty, huge, ordinary, single } from "./samples.ts";

const text = (snapshot: Snapshot) => render(analyticsBody(snapshot, snapshot.windowDays));

test("the picker links to four windows and marks the current one", () => {
  const picker = render(windowPicker(90));
  for (const days of [30, 90, 180, 366]) assert.ok(picker.includes(`<a href="?days=${days}"`));
  assert.equal(picker.match(/aria-current/g)?.length, 1);
  assert.match(picker, /href="\?days=90" aria-current="page">90 days</);
});

test("the picker marks none when another window is shown", () => {
  assert.doesNotMatch(render(windowPicker(45)), /aria-current/);
});

test("a window without orders shows words instead of pictures", () => {
  assert.match(text(empty), /No orders in the last 90 days/);
  assert.match(text(empty), /Choose a longer period/);
  assert.doesNotMatch(text(empty), /<figure/);
  assert.doesNotMatch(text({ ...empty, windowDays: 366 }), /Choose a longer period/);
});

test("a turnaround without a sample is described in words, not drawn as 0", () => {
  assert.equal(text(single).match(/No data yet/g)?.length, 3);
  assert.doesNotMatch(text(single), /turnaround-name/);
});

test("a turnaround below the last digit counts as a sample", () => {
  const quick = { ...ordinary, turnaroundHours: { median: 0, p90: 0.01 } };
  assert.doesNotMatch(text(quick), /No data yet/);
  assert.match(text(quick), /under a minute/);
});

test("the body contains no style and no script, and every picture has a name and a description", () => {
  for (const snapshot of [ordinary, empty, huge, single]) {
    const body = text(snapshot);
    assert.doesNotMatch(body, / style=|<style|<script| on[a-z]+=/);
    for (const [, ids = ""] of body.matchAll(/role="img" aria-labelledby="([^"]+)"/g))
      for (const id of ids.split(" ")) assert.match(body, new RegExp(`<(title|desc) id="${id}">[^<]+<`));
  }
});

test("no drawn length is negative, not a number, or wider than its place", () => {
  for (const snapshot of [ordinary, huge, single]) {
    const lengths = [...text(snapshot).matchAll(/ (?:x|y|x1|x2|y1|y2|width|height)="([^"]*)"/g)].map(
      ([, at = ""]) => at,
    );
    assert.ok(lengths.length > 20);
    for (const length of lengths) {
      assert.match(length, /^\d+(\.\d+)?%?$/);
      if (length.endsWith("%")) assert.ok(Number.parseFloat(length) <= 100);
    }
  }
});
