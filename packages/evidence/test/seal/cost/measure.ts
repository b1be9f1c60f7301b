// Verifies one file of `files.ts` in a process of its own. Prints JSON: the milliseconds and megabytes that this took,
// the verdict, and the first claims that don't hold.
import { createNodeCrypto } from "../../../../verifier/src/node-crypto.ts";
import { verifyProof } from "../../../src/seal/verify-proof.ts";
import { FILES } from "./files.ts";

const [name = ""] = process.argv.slice(2);
const bytes = FILES[name]?.();
if (bytes === undefined) throw new Error(`no file ${name}`);
const trust = { sealAnchors: [], tsaAnchors: [] };
const options = { crypto: createNodeCrypto() };
await verifyProof(Uint8Array.from(Buffer.from("%PDF-1.7")), trust, 0, options);
const own = Uint8Array.from(bytes);
globalThis.gc?.();
const before = process.memoryUsage().rss;
let peak = before;
const started = process.cpuUsage();
const startedAt = performance.now();
const result = await verifyProof(own, trust, 0, options);
const { user, system } = process.cpuUsage(started);
peak = process.resourceUsage().maxRSS * 1024;
const failing = result.claims
  .filter(({ state }) => state !== "holds")
  .map(({ name: claim, why }) => `${claim}: ${why}`);
console.log(
  JSON.stringify({
    name,
    size: (own.length / 1048576).toFixed(1),
    ms: Math.round(performance.now() - startedAt),
    cpu: Math.round((user + system) / 1000),
    mb: Math.round((process.memoryUsage().rss - before) / 1048576),
    peakOver: Math.round((peak - before) / 1048576),
    verdict: result.verdict,
    why: failing.slice(0, 2).join(" | ").slice(0, 160),
  }),
);
