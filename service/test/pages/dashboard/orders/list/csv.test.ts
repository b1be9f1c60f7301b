import assert from "node:assert/strict";
import { test } from "node:test";
import { csv } from "../../../../../src/pages/dashboard/orders/list/page.ts";

test("a cell with a comma, a quote or a line break stays one cell", () => {
  assert.equal(csv([["a,b", 'say "no"', "x\ny", "plain"]]), '\uFEFF"a,b","say ""no""","x\ny",plain\r\n');
});

test("no cell is a formula for a spreadsheet", () => {
  assert.equal(csv([["=1+1", "+1", "-1+1", "@x", "\tx", "1-2"]]), "\uFEFF'=1+1,'+1,'-1+1,'@x,'\tx,1-2\r\n");
  assert.equal(csv([["＝1", "＋1", "－1", "＠x", "1＝2"]]), "\uFEFF'＝1,'＋1,'－1,'＠x,1＝2\r\n");
});

test("a negative amount stays a number, so that a spreadsheet adds it up", () => {
  assert.equal(csv([["-3.00", "-7", "-3.00-1", "-"]]), "\uFEFF-3.00,-7,'-3.00-1,'-\r\n");
});
