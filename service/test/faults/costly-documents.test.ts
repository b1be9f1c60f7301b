import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { inTurn } from "@signsealship/testing/inputs/fuzz";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { ownProcess } from "@signsealship/testing/service";
import { openRoomsService } from "../closing/rooms/rooms-service.ts";
import { fileForm } from "../evidence/proof-passports/seal-document.ts";
import { costlyDocuments } from "./costly-documents.ts";

/**
 * The most CPU time that the main thread may use for a document of about 35 MiB. The main thread receives, hashes,
 * copies and encrypts the bytes, but does not parse the document.
 */
const maxMainThreadMs = 1000;

const rooms = await forTests(openRoomsService(ownProcess));
const acme = await rooms.partner();
const seal = async (document: Buffer) => (await acme.call("POST", "/api/passport/seal", fileForm(document))).status;
// The first request of each kind loads modules, so it is not measured.
await seal(makePdf());
await acme.order();

/** CPU time in ms of the service's main thread and of the whole process. Linux counts in steps of 10 ms. */
function cpu(): { main: number; all: number } {
  const { pid } = rooms.service.process();
  const [main, all] = [`/proc/${pid}/task/${pid}/stat`, `/proc/${pid}/stat`].map((path) => {
    const fields = readFileSync(path, "latin1").split(") ")[1]?.split(" ") ?? [];
    return 10 * (Number(fields[11]) + Number(fields[12]));
  });
  return { main: main ?? 0, all: all ?? 0 };
}

/**
 * The CPU time that a request costs the service. Checks that the service responds to other requests during the work.
 */
async function costOf(request: () => Promise<number>) {
  const before = cpu();
  let status: number | undefined;
  const answered = request().then((given) => {
    status = given;
  });
  while (status === undefined) {
    const { ok } = await fetch(`${rooms.service.baseUrl}/healthz`);
    assert.ok(ok);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  await answered;
  const now = cpu();
  return { status, main: now.main - before.main, all: now.all - before.all };
}

describe("an expensive document does not stall the service", { skip: process.platform !== "linux" }, () => {
  for (const [number, [name, make]] of Object.entries(costlyDocuments).entries()) {
    test(name, async (t) => {
      const document = await make();
      const requests: Record<string, () => Promise<number>> = {
        order: async () => (await acme.call("POST", "/api/partner/orders", orderForm(minimal, document))).status,
        seal: () => seal(document),
      };
      for (const [what, request] of inTurn(Object.entries(requests), number)) {
        const { status, main, all } = await costOf(request);
        t.diagnostic(`${what}: ${status}, main thread ${main} ms, all ${all} ms`);
        assert.ok([200, 201, 400].includes(status), String(status));
        assert.ok(main < maxMainThreadMs, `${what}: ${main} ms of the main thread`);
      }
    });
  }

  test("a firm that sends many expensive documents does not make another firm wait for all of them", async () => {
    const costly = await costlyDocuments["swelling cross-reference streams"]?.();
    assert.ok(costly);
    const bravo = await rooms.partner("trial", "Bravo Title");
    const answered: string[] = [];
    const many = Array.from({ length: 8 }, () => seal(costly).then(() => answered.push("acme")));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const { status } = await bravo.call("POST", "/api/passport/seal", fileForm(makePdf()));
    answered.push("bravo");
    await Promise.all(many);
    assert.equal(status, 200);
    assert.ok(answered.indexOf("bravo") <= 4, answered.join(" "));
  });

  test("a room of 50 labels of 200 Chinese characters", async (t) => {
    const room = await acme.room();
    const characters = Array.from({ length: 10_000 }, (_, n) => String.fromCodePoint(0x4e00 + n)).join("");
    for (let n = 0; n < 50; n++) {
      const label = characters.slice(200 * n, 200 * (n + 1));
      await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode: await acme.order(), label });
    }
    const sealRoom = () => acme.call("POST", `/api/rooms/${room}/passport`);
    const { status, main, all } = await costOf(async () => (await sealRoom()).status);
    t.diagnostic(`room: ${status}, main thread ${main} ms, all ${all} ms`);
    assert.equal(status, 200);
    assert.ok(main < maxMainThreadMs, `${main} ms of the main thread`);

    // A stop must interrupt the drawing of this certificate, because drawing takes longer than a stop may take.
    const cut = sealRoom().catch(() => null);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const begun = performance.now();
    assert.equal(await rooms.service.stop(), 0);
    t.diagnostic(`stopped in ${Math.round(performance.now() - begun)} ms`);
    assert.ok(performance.now() - begun < 8_000);
    await cut;
  });
});
