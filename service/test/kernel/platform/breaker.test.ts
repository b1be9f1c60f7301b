import assert from "node:assert/strict";
import { test } from "node:test";
import { createBreaker } from "../../../src/kernel/platform/bounds/breaker.ts";

function atHand() {
  let now = 0;
  const breaker = createBreaker({ failures: 3, coolDownMs: 1_000 }, () => new Date(now));
  const fail = (times: number) => {
    for (let i = 0; i < times; i++) {
      assert.equal(breaker.admits(), true);
      breaker.failed();
    }
  };
  return {
    breaker,
    fail,
    later: (ms: number) => {
      now += ms;
    },
  };
}

test("admits everyone while there are fewer failures than the limit", () => {
  const { breaker, fail } = atHand();
  fail(2);
  breaker.succeeded();
  fail(2);
  assert.equal(breaker.admits(), true);
});

test("admits nobody after the run of failures, until the cool-down is over", () => {
  const { breaker, fail, later } = atHand();
  fail(3);
  assert.equal(breaker.admits(), false);
  later(999);
  assert.equal(breaker.admits(), false);
  later(1);
  assert.equal(breaker.admits(), true);
});

test("after the cool-down one caller probes alone, and its success closes the breaker", () => {
  const { breaker, fail, later } = atHand();
  fail(3);
  later(1_000);
  assert.equal(breaker.admits(), true);
  assert.equal(breaker.admits(), false);
  breaker.succeeded();
  assert.equal(breaker.admits(), true);
  assert.equal(breaker.admits(), true);
});

test("a failed probe opens it at once for another cool-down", () => {
  const { breaker, fail, later } = atHand();
  fail(3);
  later(1_000);
  assert.equal(breaker.admits(), true);
  breaker.failed();
  assert.equal(breaker.admits(), false);
  later(1_000);
  assert.equal(breaker.admits(), true);
});
