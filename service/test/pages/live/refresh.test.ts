import assert from "node:assert/strict";
import { type MockTimers, test } from "node:test";
import { oneByOne } from "../../../src/pages/live/browser/refresh.ts";

/**
 * A page that loads a service's state. The test decides when a load is answered; the answer is the state at the time
 * when the load was requested.
 */
function opened({ mock }: { mock: { timers: MockTimers } }) {
  mock.timers.enable({ apis: ["setTimeout"] });
  const service = { state: 0 };
  const page = { shows: 0 };
  const open: (() => void)[] = [];
  let isDown = false;
  let loads = 0;
  const refresh = oneByOne(async () => {
    loads++;
    const answer = service.state;
    await new Promise<void>((resolve) => open.push(resolve));
    if (isDown) throw new TypeError("Failed to fetch");
    page.shows = answer;
    return "done";
  });
  return {
    service,
    page,
    refresh,
    loads: () => loads,
    down: (is: boolean) => {
      isDown = is;
    },
    /** Responds to the newest load first. So of two concurrent loads, the earlier one would end last. */
    async answer() {
      open.pop()?.();
      await new Promise(setImmediate);
    },
    pass: (ms: number) => mock.timers.tick(ms),
  };
}

test("a change during a load is shown in the end, and many changes cause one more load", async (t) => {
  const { service, page, refresh, loads, answer } = opened(t);
  void refresh();
  service.state = 1;
  const asked = [refresh(), refresh(), refresh()];
  assert.equal(loads(), 1, "two loads at once could end in either order");
  await answer();
  await answer();
  await Promise.all(asked);
  assert.deepEqual([page.shows, loads()], [1, 2]);
});

test("a load that fails is repeated after two seconds, and the next change does not wait for that", async (t) => {
  const { service, page, refresh, loads, down, answer, pass } = opened(t);
  service.state = 1;
  down(true);
  void refresh();
  await answer();
  pass(1_999);
  assert.equal(loads(), 1);
  pass(1);
  assert.equal(loads(), 2);
  await answer();
  down(false);
  service.state = 2;
  void refresh();
  assert.equal(loads(), 3);
  await answer();
  pass(60_000);
  assert.deepEqual([page.shows, loads()], [2, 3]);
});
