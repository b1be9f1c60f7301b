import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";

export type Acknowledged = { reference: string; code: string; at: Date };

/**
 * The programs of firms. Each places orders one after another, and repeats each request with the same Idempotency-Key
 * until it is acknowledged.
 */
export type Writers = {
  readonly acknowledged: Acknowledged[];
  /** How many responses had each status; the status 0 stands for a broken connection. */
  readonly statuses: Map<number, number>;
  /** Resolves when this many more orders are acknowledged. */
  readonly more: (count: number) => Promise<void>;
  readonly pause: () => Promise<void>;
  readonly resume: () => void;
  readonly end: () => Promise<void>;
};

const document = makePdf();

/** Creates the same bytes each time, because a repeated request must equal the first one. */
export const orderOf = (reference: string): FormData =>
  orderForm({ ...minimal, external_reference: reference }, document);

/** Starts writers, which wait until `resume` is called. @param baseUrls returns the URLs of the current nodes */
export function startWriters(baseUrls: () => string[], keys: readonly string[], writers = 2): Writers {
  const acknowledged: Acknowledged[] = [];
  const statuses = new Map<number, number>();
  let state: "goes" | "rests" | "ends" = "rests";
  let tries = 0;
  let working = 0;

  async function attempt(reference: string): Promise<{ status: number; code: string }> {
    const urls = baseUrls();
    tries += 1;
    const headers = { Authorization: `Bearer ${keys[tries % keys.length]}`, "Idempotency-Key": reference };
    try {
      const url = `${urls[tries % urls.length]}/api/partner/orders`;
      const response = await fetch(url, {
        method: "POST",
        headers,
        body: orderOf(reference),
        signal: AbortSignal.timeout(60_000),
      });
      const answer = (await response.json()) as { orderCode?: string };
      return { status: response.status, code: answer.orderCode ?? "" };
    } catch {
      return { status: 0, code: "" };
    }
  }

  async function work(name: number): Promise<void> {
    for (let n = 0; state !== "ends"; ) {
      if (state === "rests") {
        await sleep(20);
        continue;
      }
      working += 1;
      const reference = `night-${name}-${n}`;
      const { status, code } = await attempt(reference);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 201) {
        acknowledged.push({ reference, code, at: new Date() });
        n += 1;
      }
      working -= 1;
      await sleep(status === 201 ? 60 : 200);
    }
  }
  const all = Promise.all(Array.from({ length: writers }, (_, name) => work(name)));
  return {
    acknowledged,
    statuses,
    async more(count) {
      const goal = acknowledged.length + count;
      const deadline = performance.now() + 60_000;
      while (acknowledged.length < goal) {
        assert.ok(performance.now() < deadline, `no more orders: ${JSON.stringify([...statuses])}`);
        await sleep(20);
      }
    },
    async pause() {
      state = "rests";
      while (working > 0) await sleep(20);
    },
    resume() {
      state = "goes";
    },
    async end() {
      state = "ends";
      await all;
    },
  };
}

/** The acknowledged orders that are not stored, and the codes that are stored more than once. */
export function lostAndDoubled(acknowledged: readonly Acknowledged[], stored: readonly string[]) {
  const there = new Set(stored);
  return {
    lost: acknowledged.filter(({ code }) => !there.has(code)),
    doubled: stored.filter((code, n) => stored.indexOf(code) !== n),
  };
}
