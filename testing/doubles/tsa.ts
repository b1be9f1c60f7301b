import { setTimeout as wait } from "node:timers/promises";
import { startHttpDouble } from "./http-double.ts";
import { openTsaWorkshop, type TsaWorkshop } from "./tsa-tokens.ts";

/** The authority's behavior: `proper`, or one kind of fault. */
export type TsaMode =
  | "proper"
  | "replay"
  | "wrong-nonce"
  | "wrong-imprint"
  | "wrong-content-type"
  | "wrong-message-digest"
  | "wrong-signature"
  | "no-usage"
  | "usage-not-critical"
  | "more-usages"
  | "no-signing-certificate"
  | "expired"
  | "foreign"
  | "rejected"
  | "status-not-granted"
  | "garbage"
  | "truncated"
  | "oversize"
  | "server-error"
  | "redirect"
  | "hang-up"
  | "slow";

/** A real time-stamping authority on loopback. It uses `openssl ts`, and can be made to misbehave. */
export type TsaDouble = {
  readonly url: string;
  /** PEM of the certificate authority that issued the double's certificate. */
  readonly caPem: string;
  /** Sets the authority's behavior for later requests. */
  readonly order: (mode: TsaMode) => void;
  /** The number of requests so far. */
  readonly requestCount: () => number;
  readonly close: () => Promise<void>;
};

/** The delay of `slow`: longer than any test waits. */
const SLOW_MS = 60_000;

export async function startTsa(): Promise<TsaDouble> {
  const workshop = openTsaWorkshop();
  const closing = new AbortController();
  let mode: TsaMode = "proper";
  let requests = 0;
  let last: Buffer | undefined;
  const server = await startHttpDouble(async (request, body, response) => {
    requests += 1;
    if (request.headers["content-type"] !== "application/timestamp-query") return void response.writeHead(415).end();
    if (mode === "hang-up") return void request.socket.destroy();
    if (mode === "server-error") return void response.writeHead(500).end("to order");
    if (mode === "redirect" && request.url === "/") return void response.writeHead(307, { location: "/other" }).end();
    if (mode === "slow") await wait(SLOW_MS, undefined, { signal: closing.signal }).catch(() => {});
    response.writeHead(200, { "content-type": "application/timestamp-reply" });
    if (mode === "replay" && last !== undefined) return void response.end(last);
    last = answer(workshop, mode, body);
    response.end(last);
  });
  return {
    url: `${server.url}/`,
    caPem: workshop.caPem,
    order: (next) => {
      mode = next;
    },
    requestCount: () => requests,
    close: async () => {
      closing.abort();
      await server.close();
      workshop.close();
    },
  };
}

function answer(workshop: TsaWorkshop, mode: TsaMode, request: Buffer): Buffer {
  switch (mode) {
    case "wrong-nonce":
      return workshop.reply(withFlipped(request, nonceEnd(request)));
    case "wrong-imprint":
      return workshop.reply(withFlipped(request, imprintEnd(request)));
    case "wrong-content-type":
      return workshop.signAgain(workshop.reply(request), { certificate: "proper", contentType: "pkcs7-data" });
    case "wrong-message-digest": {
      const response = workshop.reply(request);
      // Changes the last arc of the policy in the TSTInfo, so that the message digest in the signature no longer fits.
      return withFlipped(response, response.indexOf(Buffer.from("06042a030401", "hex")) + 5);
    }
    case "wrong-signature": {
      const response = workshop.reply(request);
      return withFlipped(response, response.length - 1);
    }
    case "no-signing-certificate":
      return workshop.signAgain(workshop.reply(request), { certificate: "proper", signingCertificate: false });
    case "no-usage":
    case "usage-not-critical":
    case "more-usages":
    case "expired":
    case "foreign":
      return workshop.signAgain(workshop.reply(request), { certificate: mode });
    case "rejected":
      // PKIStatus rejection, PKIFailureInfo badAlg.
      return Buffer.from("3009300702010203020780", "hex");
    case "status-not-granted": {
      const response = workshop.signAgain(workshop.reply(request), { certificate: "proper" });
      const status = response.indexOf(Buffer.from("3003020100", "hex"));
      response[status + 4] = 2;
      return response;
    }
    case "garbage":
      return Buffer.from("<html>not a time stamp</html>");
    case "truncated":
      return workshop.reply(request).subarray(0, -20);
    case "oversize":
      return Buffer.alloc(1024 * 1024, 0x30);
    default:
      return workshop.reply(request);
  }
}

/**
 * The offset of the last byte of the imprint, which is an OCTET STRING of 32 bytes. The nonce follows it as an INTEGER.
 */
function imprintEnd(request: Buffer): number {
  return request.indexOf(Buffer.from("0420", "hex")) + 2 + 31;
}

function nonceEnd(request: Buffer): number {
  const nonce = imprintEnd(request) + 1;
  return nonce + 1 + (request[nonce + 1] ?? 0);
}

function withFlipped(bytes: Buffer, index: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[index] = (copy[index] ?? 0) ^ 0x01;
  return copy;
}
