import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { examplePdf } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { mailReceipt, requireNoLetter } from "../../../../src/delivery/shipping/letters/letters.ts";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { claimTask } from "../../../../src/kernel/tasks/tasks.ts";
import { lockOrder } from "../../../../src/orders/order/order.ts";
import { openWorld, type World } from "./letter-world.ts";

const { after, before, describe, test } = testsNeeding("mupdf");
const cuts = Number(process.env["CUTS"] ?? 6);

let world: World;
before(async () => {
  world = await openWorld();
});
after(() => world.close());

const minutes = (count: number) => count * 60;

/** An order whose letter Lob has accepted. */
async function sent() {
  const code = await world.placed();
  const node = world.openNode();
  await node.work();
  const [letterId = assert.fail("no letter")] = world.lettersOf(code);
  return { code, node, letterId };
}

describe("an order to print and mail", () => {
  test("becomes one letter, and nobody prints it by hand", async () => {
    const { code, letterId, node } = await sent();
    assert.equal(await world.statusOf(code), "ShippingPending", "a letter that was accepted is not mailed yet");
    assert.deepEqual(await world.tasksOf(code), ["packet_print done"]);
    await node.work();
    assert.deepEqual(world.lettersOf(code), [letterId]);
    const { params, file } = world.lob.requests.find(({ method }) => method === "POST") ?? assert.fail();
    assert.ok(!JSON.stringify(params).includes(code), "nothing that leads to the order");
    assert.ok(file?.equals(makePdf({ pages: 2 })));
  });

  test("is not shipped by hand while its letter waits to be mailed", async () => {
    const { code, letterId, node } = await sent();
    const byHand = () =>
      world.db.transaction(async (tx) => {
        const order = await lockOrder(tx, code);
        await requireNoLetter(tx, order ?? assert.fail(), "shipped");
      });
    await assert.rejects(byHand(), new RegExp(`Lob has the letter ${letterId}`));
    await world.move(code, "held", "by hand, then");
    await node.work();
    await world.move(code, "released");
    await byHand();
  });

  test("whose document is deleted after the order but before the request to Lob becomes manual work, with the reason", async () => {
    const code = await world.placed();
    const node = world.openNode();
    await node.work({ only: [...node.handlers.keys()].filter((queue) => queue !== "provider-act-lob") });
    await world.db.query(sql`DELETE FROM documents WHERE order_id = ${await world.idOf(code)}`);
    await node.work();
    assert.deepEqual(await world.tasksOf(code), ["packet_print done", "packet_print open"]);
    assert.match(await world.reasonsOf(code), /Lob did not take the letter: Document not found/);
    assert.deepEqual(world.lettersOf(code), []);
  });

  test("is mailed once its file is restored, if the document was altered before the request to Lob", async () => {
    const code = await world.placed();
    const node = world.openNode();
    await node.work({ only: [...node.handlers.keys()].filter((queue) => queue !== "provider-act-lob") });
    const file = await world.fileOf(code);
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.with(bytes.length - 20, bytes.readUInt8(bytes.length - 20) ^ 1));
    await node.work();
    assert.deepEqual(await world.tasksOf(code), ["packet_print open", "document_altered open"]);
    writeFileSync(file, bytes);
    world.pass(minutes(15));
    await node.work();
    assert.equal(world.lettersOf(code).length, 1);
  });

  test("whose document was deleted before any work on the letter becomes manual work, with the reason", async () => {
    const code = await world.placed();
    await world.db.query(sql`DELETE FROM documents WHERE order_id = ${await world.idOf(code)}`);
    await world.openNode().work();
    assert.match(await world.reasonsOf(code), /The order has no document/);
  });

  test("in the test environment causes no request to Lob", async () => {
    const before = world.lob.requests.length;
    const code = await world.placed({ environment: "test" });
    await world.openNode().work();
    assert.equal(world.lob.requests.length, before);
    assert.deepEqual(await world.tasksOf(code), ["packet_print open"]);
  });

  test("that does not fit is printed by hand, with the reason in plain words", async () => {
    const before = world.lob.requests.length;
    const code = await world.placed({ pdf: examplePdf });
    await world.openNode().work();
    assert.equal(world.lob.requests.length, before);
    assert.deepEqual(await world.tasksOf(code), ["packet_print open"]);
    assert.match(await world.reasonsOf(code), /Page 1 is 8\.26 x 11\.69 inches; Lob prints 8\.5 x 11 only/);
  });

  test("that Lob refuses is printed by hand, with Lob's words", async () => {
    world.lob.fail({ status: 422, code: "failed_deliverability_strictness", message: "address is undeliverable" });
    const code = await world.placed();
    await world.openNode().work();
    assert.deepEqual(await world.tasksOf(code), ["packet_print done", "packet_print open"]);
    assert.match(await world.reasonsOf(code), /address is undeliverable/);
    assert.deepEqual(world.lettersOf(code), []);
  });

  test("that a person has claimed is not sent by Lob", async () => {
    const code = await world.placed();
    const [task] = await world.db.query<{ id: number }>(sql`
      SELECT t.id FROM tasks t JOIN orders o ON o.id = t.order_id WHERE ${isSealed(sql`o.code`, "order", code)}`);
    await claimTask({ db: world.db, clock: () => world.state.now }, task?.id ?? 0, "operator:1");
    await world.openNode().work();
    assert.deepEqual(world.lettersOf(code), []);
  });
});

test("five concurrent nodes make one letter of an order", async () => {
  const code = await world.placed();
  const orderId = await world.idOf(code);
  const nodes = Array.from({ length: 5 }, () => world.openNode());
  await Promise.all(nodes.map(({ handlers }) => handlers.get("mail-letter")?.({ orderId })));
  await Promise.all(nodes.map(({ work }) => work()));
  assert.equal(world.lettersOf(code).length, 1);
  assert.equal(
    world.lob.requests.filter(({ params }) => JSON.stringify(params).includes(code.slice(0, 6).toUpperCase())).length,
    1,
  );
});

describe("Lob's reports about a letter", () => {
  test("carry its order to Delivered, with one shipment and one receipt", async () => {
    const { code, letterId, node } = await sent();
    const tracking = world.lob.letters.get(letterId)?.tracking_number;
    assert.equal(await node.hear(world.lob.happens(letterId, "letter.certified.mailed")), "applied");
    assert.equal(await world.statusOf(code), "Shipped");
    assert.equal(await world.shipmentOf(code), `Shipped USPS Certified Mail ${tracking}`);
    assert.match(await world.shownOf(code), /USPS Certified Mail: mailed.*Tracking.*expected on 2026-06-07.*2 pages/s);
    const receipts = await world.jobsOf("receipt");
    const delivered = world.lob.happens(letterId, "letter.certified.delivered");
    assert.equal(await node.hear(delivered), "applied");
    await node.hear(delivered);
    assert.equal(await world.statusOf(code), "Delivered");
    assert.match(await world.shipmentOf(code), /^Delivered/);
    assert.match(await world.shownOf(code), /USPS Certified Mail: delivered/);
    assert.equal((await world.jobsOf("receipt")) - receipts, 1);
  });

  test("may come in any order, and repeatedly", async () => {
    const { code, letterId, node } = await sent();
    const events = ["mailed", "in_transit", "in_local_area", "delivered"].map((what, hour) =>
      world.lob.happens(letterId, `letter.certified.${what}`, new Date(world.state.now.getTime() + hour * 3_600_000)),
    );
    for (const event of [...events].reverse()) await node.hear(event);
    for (const event of events) await node.hear(event);
    assert.equal(await world.statusOf(code), "Delivered");
  });

  test("that arrive late do not replace the tracking number and the expected day of a later event", async () => {
    const { letterId, node } = await sent();
    const early = world.lob.happens(letterId, "letter.certified.mailed");
    world.pass(minutes(60));
    const letter = world.lob.letters.get(letterId) ?? assert.fail();
    Object.assign(letter, { tracking_number: "9207190164917900000012", expected_delivery_date: "2026-06-20" });
    await node.hear(world.lob.happens(letterId, "letter.certified.in_transit"));
    const stored = () =>
      world.db.query(sql`
        SELECT tracking_number AS tracking, expected_delivery::text AS expected FROM letters WHERE letter_id = ${letterId}`);
    const later = [{ tracking: "9207190164917900000012", expected: "2026-06-20" }];
    assert.deepEqual(await stored(), later);
    await node.hear(early);
    assert.deepEqual(await stored(), later);
  });

  test("are polled daily, in case events were lost", async () => {
    const { code, letterId, node } = await sent();
    world.lob.happens(letterId, "letter.certified.in_transit");
    await node.work({ polls: true, rounds: 1 });
    assert.equal(await world.statusOf(code), "Shipped");
    world.lob.happens(letterId, "letter.certified.delivered");
    await node.work({ polls: true, rounds: 1 });
    assert.equal(await world.statusOf(code), "Delivered");
    const asked = world.lob.requests.filter(({ path }) => path.endsWith(letterId)).length;
    await node.work({ polls: true, rounds: 1 });
    assert.equal(world.lob.requests.filter(({ path }) => path.endsWith(letterId)).length, asked, "and no more then");
  });

  test("of a return: the order has failed, and a new attempt is another letter", async () => {
    const { code, letterId, node } = await sent();
    await node.hear(world.lob.happens(letterId, "letter.certified.returned_to_sender"));
    assert.equal(await world.statusOf(code), "ShippingFailed");
    assert.match(await world.shipmentOf(code), /^Failed/);
    assert.ok((await world.tasksOf(code)).includes("shipping_exception open"));
    world.pass(minutes(1));
    await world.move(code, "shipping_retried");
    await node.work();
    const letters = world.lettersOf(code);
    assert.equal(letters.length, 2);
    // A late event about the first letter does not apply to the second.
    await node.hear(world.lob.happens(letterId, "letter.certified.delivered"));
    assert.equal(await world.statusOf(code), "ShippingPending");
    assert.match(
      await world.reasonsOf(code),
      new RegExp(`${letterId} was delivered, though the order waits for it no`),
    );
    await node.hear(world.lob.happens(letters[1] ?? "", "letter.certified.mailed"));
    assert.equal(await world.statusOf(code), "Shipped");
  });

  test("of trouble: a person looks into it until it is delivered", async () => {
    const { code, letterId, node } = await sent();
    await node.hear(world.lob.happens(letterId, "letter.certified.pickup_available"));
    assert.equal(await world.statusOf(code), "Shipped");
    assert.ok((await world.tasksOf(code)).includes("delivery_trouble open"));
    assert.match(await world.reasonsOf(code), /pickup_available/);
    await node.hear(world.lob.happens(letterId, "letter.certified.delivered"));
    assert.ok((await world.tasksOf(code)).includes("delivery_trouble done"));
  });

  test("of a late return: the order was delivered, and a person is told", async () => {
    const { code, letterId, node } = await sent();
    await node.hear(world.lob.happens(letterId, "letter.certified.delivered"));
    await node.hear(world.lob.happens(letterId, "letter.certified.returned_to_sender"));
    assert.equal(await world.statusOf(code), "Delivered");
    assert.match(
      await world.reasonsOf(code),
      /The post returns the letter ltr_\w+ to its sender\. The order is Delivered/,
    );
  });

  test("that never come: a person is told once, and Lob is asked again even if its key is temporarily missing", async () => {
    const { code, letterId, node } = await sent();
    const days = (count: number) => world.pass(minutes(60 * 24 * count));
    const troubles = async () => (await world.tasksOf(code)).filter((task) => task.startsWith("delivery_trouble"));
    const poll = () => node.handlers.get("poll-letter")?.({ letterId });
    days(10);
    await poll();
    assert.deepEqual(await troubles(), []);
    days(2);
    await poll();
    assert.match(await world.reasonsOf(code), /Nothing was heard of the letter ltr_\w+ since Lob accepted it on 2026-/);
    await world.lookedAfter(code, letterId);
    days(1);
    await poll();
    assert.deepEqual(await troubles(), ["delivery_trouble done"]);
    await world.db.query(sql`DELETE FROM jobs WHERE queue = 'poll-letter'`);
    await world.openNode({ hasKey: false }).handlers.get("poll-letter")?.({ letterId });
    assert.equal(await world.jobsOf("poll-letter"), 1);
  });

  test("of a printing failure", async () => {
    const { code, letterId, node } = await sent();
    await node.hear(world.lob.happens(letterId, "letter.failed"));
    assert.equal(await world.statusOf(code), "ShippingFailed");
  });

  test("about unknown letters or other things mean nothing", async () => {
    const { letterId, node } = await sent();
    const event = world.lob.happens(letterId, "letter.certified.mailed");
    const foreign = { ...event, id: "evt_foreign", reference_id: "ltr_ffffffffffffffff" };
    assert.equal(await node.hear(foreign), "unknown");
    assert.equal(await node.hear(world.lob.happens(letterId, "letter.rendered_pdf")), "irrelevant");
  });
});

describe("the receipt of a letter", () => {
  async function receiptOf(mailClass: "certified" | "standard") {
    const code = await world.placed();
    const node = world.openNode({ mailClass });
    await node.work();
    const [letterId = ""] = world.lettersOf(code);
    const what = mailClass === "standard" ? "letter" : "letter.certified";
    await node.hear(world.lob.happens(letterId, `${what}.in_transit`));
    await node.hear(world.lob.happens(letterId, `${what}.delivered`));
    assert.equal(await world.statusOf(code), "Delivered");
    const orderId = await world.idOf(code);
    const [letter] = await world.db.query<{ id: number }>(sql`SELECT id FROM letters WHERE letter_id = ${letterId}`);
    const receipt = await mailReceipt(world.db, orderId, letter?.id ?? 0);
    return { receipt: receipt ?? assert.fail("no receipt"), shipment: await world.shipmentOf(code), letterId };
  }

  test("names class, tracking number, document and days, and has Lob's events", async () => {
    const { receipt } = await receiptOf("certified");
    const labels = receipt.rows.map(([label]) => label);
    for (const label of ["Class", "Tracking number", "Document SHA-256", "Mailed", "Delivered"])
      assert.ok(labels.includes(label), label);
    assert.match(receipt.sentence, /^Lob reports that .* Postal Service recorded its delivery\.$/);
    assert.equal(receipt.events.length, 2);
  });

  test("says of standard mail that its delivery is an estimate", async () => {
    const { receipt, shipment, letterId } = await receiptOf("standard");
    assert.match(receipt.sentence, /no proof of delivery.*estimate/);
    assert.ok(receipt.rows.some(([label]) => label === "Delivered (estimate)"));
    assert.equal(shipment, `Delivered USPS First-Class Mail ${letterId}`);
  });
});

test("a letter that was delivered and returned between two polls has no receipt of delivery", async () => {
  const { code, letterId, node } = await sent();
  const receipts = await world.jobsOf("receipt");
  for (const what of ["delivered", "returned_to_sender"]) world.lob.happens(letterId, `letter.certified.${what}`);
  await node.handlers.get("poll-letter")?.({ letterId });
  assert.equal(await world.statusOf(code), "ShippingFailed");
  assert.equal(await world.jobsOf("receipt"), receipts);
  const [letter] = await world.db.query<{ id: number }>(sql`SELECT id FROM letters WHERE letter_id = ${letterId}`);
  assert.equal(await mailReceipt(world.db, await world.idOf(code), letter?.id ?? 0), null);
});

describe("a letter that is no longer needed", () => {
  /** An order on hold whose letter can no longer be canceled. */
  async function heldTooLate() {
    world.lob.cancellable(0);
    const order = await sent();
    world.lob.cancellable(3_600_000);
    await world.move(order.code, "held", "the client asked");
    await order.node.work();
    return order;
  }

  test("is canceled while that is possible, and made again after a hold", async () => {
    const { code, node, letterId } = await sent();
    await world.move(code, "held", "the client asked");
    await node.work();
    assert.equal(world.lob.letters.get(letterId)?.deleted, true);
    await world.move(code, "released");
    await node.work();
    assert.equal(world.lettersOf(code).length, 1);
    assert.equal(await world.statusOf(code), "ShippingPending");
    assert.ok(!(await world.tasksOf(code)).includes("packet_print open"));
  });

  test("is made again when the hold ended before it was canceled", async () => {
    const { code, node } = await sent();
    await world.move(code, "held", "the client asked");
    await node.work({ only: ["recall"] });
    await world.move(code, "released");
    await node.work({ only: ["dispatch"] });
    await node.work();
    assert.equal(world.lettersOf(code).length, 1);
    assert.ok(!(await world.tasksOf(code)).includes("packet_print open"));
  });

  test("is printed by nobody while Lob may have it, even after a hold", async () => {
    const code = await world.placed();
    const node = world.openNode();
    world.lob.fail("cut");
    await node.work({ rounds: 3 });
    await world.move(code, "held", "the client asked");
    await world.move(code, "released");
    await node.work({ only: ["dispatch"] });
    assert.ok(!(await world.tasksOf(code)).includes("packet_print open"));
    world.pass(minutes(3));
    await node.work();
    assert.equal(world.lettersOf(code).length, 1);
  });

  test("is canceled when it was accepted after the order had moved on", async () => {
    const code = await world.placed();
    const node = world.openNode();
    world.lob.fail("cut");
    await node.work({ rounds: 3 });
    await world.move(code, "refund_requested", "the client asked");
    world.pass(minutes(3));
    await node.work();
    assert.deepEqual(world.lettersOf(code), []);
  });

  test("is permanently canceled with a refund", async () => {
    const { code, node } = await sent();
    await world.move(code, "refund_requested", "the client asked");
    await node.work();
    assert.deepEqual(world.lettersOf(code), []);
    assert.equal(await world.statusOf(code), "RefundPending");
  });

  test("becomes a task when it can no longer be canceled", async () => {
    const { code, node, letterId } = await heldTooLate();
    assert.match(
      await world.reasonsOf(code),
      new RegExp(`${letterId} is not cancelled \\(letter can't be canceled after`),
    );
    // The letter is mailed during the hold. After the hold, the order moves to Shipped, and nobody prints a second
    // letter.
    await node.hear(world.lob.happens(letterId, "letter.certified.mailed"));
    assert.equal(await world.statusOf(code), "OnHold");
    await world.move(code, "released");
    await node.work();
    assert.equal(await world.statusOf(code), "Shipped");
    assert.ok(!(await world.tasksOf(code)).includes("packet_print open"));
    assert.deepEqual(world.lettersOf(code), [letterId]);
  });

  test("is canceled and reported again when it was too late before and the order continued", async () => {
    const { code, node, letterId } = await heldTooLate();
    await world.move(code, "released");
    await node.work();
    await world.lookedAfter(code, letterId);
    await world.move(code, "refund_requested", "the client asked");
    await node.work();
    assert.match(
      await world.reasonsOf(code),
      new RegExp(`${letterId} is not cancelled \\(letter can't be canceled after`),
    );
    // The letter is delivered after all, as the task warned. That does not close the task.
    await node.hear(world.lob.happens(letterId, "letter.certified.delivered"));
    assert.match(
      await world.reasonsOf(code),
      new RegExp(`${letterId} is not cancelled \\(letter can't be canceled after`),
    );
  });
});

describe("a person says that a letter was not canceled", () => {
  /**
   * Puts an order on hold. The answer to the letter's cancellation is lost, and its look-ups fail until a task asks a
   * person.
   */
  async function heldUnclear() {
    const order = await sent();
    world.lob.fail("cut");
    await world.move(order.code, "held", "the client asked");
    await order.node.work({ rounds: 2 });
    world.lob.failAll({ status: 500 });
    for (let look = 0; look < 8; look++) {
      world.pass(minutes(16));
      await order.node.work({ rounds: 1 });
    }
    world.lob.failAll(null);
    assert.ok((await world.tasksOf(order.code)).includes("provider_unclear open"));
    return order;
  }

  async function sayNotDone({ code, node }: Awaited<ReturnType<typeof sent>>) {
    const orderId = await world.idOf(code);
    const [row] = await world.db.query<{ id: number }>(sql`
      SELECT id FROM provider_calls WHERE order_id = ${orderId} AND act = 'letter.cancel'`);
    await node.providers.resolve({ orderId, intentId: row?.id ?? 0 }, null, "operator:1");
    await node.work();
  }

  test("the task does not claim that Lob can't cancel it", async () => {
    const order = await heldUnclear();
    await sayNotDone(order);
    const reasons = await world.reasonsOf(order.code);
    assert.match(reasons, /is not cancelled \(A person found that it was not done\.\)\. Lob will mail it, unless/);
    assert.doesNotMatch(reasons, /any more/);
  });

  test("after Lob reported the cancellation: no task says that it will be mailed, and the order gets another letter", async () => {
    const order = await heldUnclear();
    await order.node.hear(world.lob.happens(order.letterId, "letter.certified.deleted"));
    await sayNotDone(order);
    assert.doesNotMatch(await world.reasonsOf(order.code), /mail it|will be mailed/);
    await world.move(order.code, "released");
    world.pass(minutes(25 * 60));
    await order.node.work();
    assert.equal(await world.statusOf(order.code), "ShippingPending");
    assert.equal(world.lettersOf(order.code).length, 1);
  });
});

describe("Lob is unreachable", () => {
  test(`after it accepted a letter: ${cuts} cuts give one letter each`, async () => {
    for (let n = 0; n < cuts; n++) {
      const code = await world.placed();
      const node = world.openNode();
      // Two requests fail: the one that creates the letter, whose response is cut off, and the look-up of that letter.
      // The third request retries the look-up and succeeds.
      world.lob.fail("cut", n % 2 === 0 ? { status: 502 } : "cut");
      await node.work({ rounds: 3 });
      for (let look = 0; look < 3; look++) {
        world.pass(minutes(16));
        await node.work({ rounds: 2 });
      }
      assert.equal(world.lettersOf(code).length, 1, `cut ${n}`);
      assert.deepEqual((await world.tasksOf(code)).slice(-1), ["packet_print done"]);
    }
  });

  test(`after it canceled a letter: ${cuts} cuts leave none`, async () => {
    for (let n = 0; n < cuts; n++) {
      const { code, node } = await sent();
      world.lob.fail("cut", n % 2 === 0 ? { status: 502 } : "cut");
      await world.move(code, "held", "the client asked");
      for (let look = 0; look < 4; look++) {
        await node.work({ rounds: 2 });
        world.pass(minutes(16));
      }
      assert.deepEqual(world.lettersOf(code), []);
      assert.ok(!(await world.tasksOf(code)).join().includes("delivery_trouble"));
    }
  });

  test("permanently: a person records the outcome, by the letter's id at Lob", async () => {
    const other = await sent();
    const code = await world.placed();
    const node = world.openNode();
    world.lob.fail("cut");
    await node.work({ rounds: 3 });
    world.lob.failAll({ status: 500 });
    for (let look = 0; look < 8; look++) {
      world.pass(minutes(16));
      await node.work({ rounds: 1 });
    }
    world.lob.failAll(null);
    assert.ok((await world.tasksOf(code)).includes("provider_unclear open"));
    const orderId = await world.idOf(code);
    const [row] = await world.db.query<{ id: number }>(sql`SELECT id FROM provider_calls WHERE order_id = ${orderId}`);
    const say = (id: string) =>
      node.providers.resolve({ orderId, intentId: row?.id ?? 0 }, { id, tracking: null }, "operator:1");
    await assert.rejects(say("psc_1"), /must be that of a letter at Lob/);
    // The letter of another order is refused, and stays with that order.
    await assert.rejects(say(other.letterId), /this letter is on record already/);
    assert.deepEqual(world.lettersOf(other.code), [other.letterId]);
    const [letterId = ""] = world.lettersOf(code);
    await say(letterId);
    assert.ok((await world.tasksOf(code)).includes("provider_unclear done"));
    await node.hear(world.lob.happens(letterId, "letter.certified.mailed"));
    assert.equal(await world.statusOf(code), "Shipped");
    assert.equal(world.lettersOf(code).length, 1);
  });

  test("for an hour: nothing is lost or done twice, and people may do the work", async () => {
    const codes = await Promise.all([world.placed(), world.placed()]);
    const node = world.openNode();
    world.lob.failAll({ status: 429 });
    for (let minute = 0; minute < 60; minute += 10) {
      await node.work({ rounds: 1 });
      world.pass(minutes(10));
    }
    for (const code of codes) {
      assert.deepEqual(world.lettersOf(code), []);
      assert.deepEqual((await world.tasksOf(code)).slice(-1), ["packet_print open"]);
    }
    // A person ships one of the orders by hand before the service continues.
    const [byHand = "", waiting = ""] = codes;
    await world.move(byHand, "shipped");
    world.lob.failAll(null);
    world.pass(minutes(10));
    await node.work();
    assert.deepEqual(world.lettersOf(byHand), []);
    assert.equal(world.lettersOf(waiting).length, 1);
    assert.deepEqual((await world.tasksOf(waiting)).slice(-1), ["packet_print done"]);
  });
});
