import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { ownProcess } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { openCeremonyService } from "../../signing/envelopes/ceremony/ceremony-service.ts";

const megabytes = 33 * 1024 * 1024;
const jane = { name: "Jane Doe", email: "jane@example.com" };

/** Links to documents that wait for a signature; each document is large. */
const tokens: string[] = [];
const running = await forTests(openCeremonyService({ ...ownProcess, RATE_LIMITS: "off" }));
for (let n = 0; n < 6; n++) {
  const email = `jane${n}@example.com`;
  // The fields have explicit places, so the service need not search the document's text for tags.
  const fields = JSON.stringify([
    { signer: 1, kind: "signature", page: 1, x: 72, y: 500, width: 180, height: 40, label: null, required: true },
  ]);
  await running.order([{ ...jane, email }], { fields }, makePdf({ bytes: megabytes, text: `Document ${n}` }));
  tokens.push((await running.linkOf(email)).token);
}

/** The memory of the service's own process, in MiB. */
function memory(field: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${running.service.process().pid}/status`, "utf8");
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}

/** The largest growth of the service's memory during the work, in MiB. */
async function growthOf(work: () => Promise<void>): Promise<number> {
  // Resets the memory peak, which so far includes earlier work.
  writeFileSync(`/proc/${running.service.process().pid}/clear_refs`, "5");
  const idle = memory("VmRSS");
  await work();
  return memory("VmHWM") - idle;
}

async function firstBytesOf(token: string): Promise<[number, number]> {
  const url = `${running.service.baseUrl}/sign/${token}/document.pdf`;
  const asked = request(url, { headers: { Range: "bytes=0-9" }, agent: false }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  const body = Buffer.concat(await answer.toArray());
  return [answer.statusCode ?? 0, body.length];
}

async function requireRanges(documents: readonly string[]): Promise<void> {
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, n) => firstBytesOf(documents[n % documents.length] ?? "")),
  );
  assert.deepEqual(new Set(answers.map((answer) => answer.join(" "))), new Set(["206 10"]));
}

test("200 concurrent requests for ten bytes of one document of 33 MB increase the service's memory by less than 200 MB", async (t) => {
  const grown = await growthOf(() => requireRanges(tokens.slice(0, 1)));
  t.diagnostic(`grew by ${Math.round(grown)} MiB`);
  assert.ok(grown < 200, `grew by ${grown} MiB`);
});

test("200 concurrent requests for ten bytes of six documents of 33 MB increase the service's memory by less than 200 MB", async (t) => {
  const grown = await growthOf(() => requireRanges(tokens));
  t.diagnostic(`grew by ${Math.round(grown)} MiB`);
  assert.ok(grown < 200, `grew by ${grown} MiB`);
});

test("40 sockets that request a whole document and read nothing use less than 200 MB, and are closed", async (t) => {
  const { hostname, port } = new URL(running.service.baseUrl);
  const sockets: Socket[] = [];
  let closed = 0;
  const grown = await growthOf(async () => {
    for (let n = 0; n < 40; n++) {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => {}).on("close", () => closed++);
      socket.pause();
      socket.write(`GET /sign/${tokens[n % 6]}/document.pdf HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
      sockets.push(socket);
    }
    // Waits until all 40 connections have unsent bytes, and three seconds more so that their buffers can fill.
    await until(async () => (await openConnections()) >= 40);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
  });
  t.diagnostic(`grew by ${Math.round(grown)} MiB`);
  assert.ok(grown < 200, `grew by ${grown} MiB`);
  assert.equal(closed, 0);
  const given = async () => (await openConnections()) === 0;
  // The service closes such connections after half a minute, or later on a busy machine. So this waits up to two
  // minutes, twice as long as `until` alone.
  await until(given).catch(() => until(given));
  for (const socket of sockets) socket.destroy();
});

/** The number of the service's open connections with bytes that were not sent yet. */
async function openConnections(): Promise<number> {
  const { port } = new URL(running.service.baseUrl);
  const local = `:${Number(port).toString(16).toUpperCase().padStart(4, "0")}`;
  const lines = ["tcp", "tcp6"].flatMap((name) => readFileSync(`/proc/net/${name}`, "utf8").split("\n").slice(1));
  // State 01 is ESTABLISHED. The first number of `queues` is the length of the send queue.
  return lines.filter((line) => {
    const [, from = "", , state, queues = ""] = line.trim().split(/\s+/);
    return from.endsWith(local) && state === "01" && Number.parseInt(queues.split(":")[0] ?? "", 16) > 0;
  }).length;
}
