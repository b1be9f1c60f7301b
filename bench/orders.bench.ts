import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { connectionTo } from "@signsealship/testing/database";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { openRoomsOf } from "../service/src/closing/rooms/rooms.ts";
import { keySha256 } from "../service/src/firms/partners/keys/format.ts";
import { keyForMeStatement, keyStatement } from "../service/src/firms/partners/keys/resolve.ts";
import { ToSeal } from "../service/src/kernel/platform/database/sql.ts";
import { byMember } from "../service/src/orders/order/form/sender-texts.ts";
import { insertStatement, type NewOrder } from "../service/src/orders/order/insert.ts";
import { listStatement, ownOrderStatement } from "../service/src/orders/order/store.ts";
import { atLeast, type Result } from "./result.ts";
import { portableFor, startBare } from "./support/bare.ts";
import { get, interleave, type Target } from "./support/http-load.ts";

async function postBytes(form: FormData, authorization: string): Promise<Buffer> {
  const response = new Response(form);
  const body = Buffer.from(await response.arrayBuffer());
  const head = [
    "POST /api/partner/orders HTTP/1.1",
    "Host: localhost",
    `Authorization: ${authorization}`,
    `Content-Type: ${response.headers.get("content-type")}`,
    `Content-Length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]);
}

async function place(service: Service, form: FormData, headers: Record<string, string>): Promise<string> {
  const response = await fetch(`${service.baseUrl}/api/partner/orders`, { method: "POST", headers, body: form });
  return ((await response.json()) as { orderCode: string }).orderCode;
}

/** A sample order with the columns that the service writes. The bare server inserts it. */
function sampleOrder(partnerId: string, keyId: string): NewOrder {
  const services = { sign: true, notarize: false, ship: false, fax: false };
  return {
    ...services,
    code: "0".repeat(40),
    status: "QuoteReady",
    envelopeStatus: "Created",
    ...byMember(() => null),
    customerEmail: minimal.email,
    faxTo: null,
    lines: [{ type: "WorkflowFee", label: "Document workflow", amountCents: 1200 }],
    subtotalCents: 1200,
    discountCents: 0,
    totalCents: 1200,
    carrierRate: null,
    documentName: null,
    documentNotices: null,
    manualQuoteReason: null,
    payBy: "client",
    template: null,
    templateUse: null,
    notices: [],
    rowMac: Buffer.alloc(36),
    createdAt: new Date(),
    principal: {
      partnerId,
      environment: "test",
      firmName: "",
      tier: "trial",
      liveEnabled: false,
      key: { id: keyId, prefix: "", last4: "", createdAt: new Date(), scopes: null, expiresAt: null },
      member: null,
    },
    form: {
      email: minimal.email,
      name: null,
      fillToken: null,
      docSlug: null,
      services,
      signerState: null,
      destState: null,
      ...byMember(() => null),
      shipTo: null,
      shipFrom: null,
      shipMethod: null,
      faxTo: null,
      createCheckout: false,
      payBy: "client",
      signing: { signers: null, signatureFields: null },
    },
    signers: null,
    priceBookVersion: 1,
    document: { sha256: "0".repeat(64), bytes: 102_400, pages: 1, blobKey: "00/0", rowMac: Buffer.alloc(36) },
  };
}

/**
 * Placing orders and reading `/api/partner/me`, compared with bare Fastify with the same driver and statements, on the
 * same database.
 */
export async function run(): Promise<Result[]> {
  const folder = temporaryFolder();
  const service = await startService({ DATA_DIR: folder.path, RATE_LIMITS: "off", LOG_LEVEL: "info" });
  const limited = await startService({ DATA_DIR: folder.path, LOG_LEVEL: "info", TRUST_PROXY: "127.0.0.1" });
  const { partnerId, keyId, key, headers } = await newPartner(service);
  const form = orderForm({ ...minimal, svc_sign: "true" }, makePdf({ pages: 1, bytes: 100 * 1024 }));
  let code = "";
  for (let n = 0; n < 40; n++) code = await place(service, form, headers);
  const of = { partnerId, environment: "test" } as const;
  const portable = await portableFor(folder.path);
  const authenticate = portable(keyStatement(keySha256(key), new Date()));
  const sample = sampleOrder(partnerId, keyId);
  const insert = insertStatement(sample, null);
  const written = portable(insert);
  // The indexes of the parameters that must differ in each order. They are searched in `insert`, where the sample's
  // codes are plain text. In `written`, the codes are encrypted.
  const textOf = (value: unknown) => String(value instanceof ToSeal ? value.text : value);
  const unique = [...insert.values.keys()].filter((n) => /^(order\.created:)?0{40}$/.test(textOf(insert.values[n])));
  const bareFiles = join(folder.path, "bare");
  mkdirSync(bareFiles);
  const bare = await startBare({
    connection: connectionTo(folder.path),
    folder: bareFiles,
    reads: {
      "/api/partner/orders": [
        authenticate,
        portable(listStatement(of, { status: null, externalReference: null, after: null, limit: 21 })),
      ],
      [`/api/partner/orders/${code}`]: [authenticate, portable(ownOrderStatement(code, of))],
      "/api/partner/me": [portable(keyForMeStatement(openRoomsOf)(keySha256(key), new Date()))],
    },
    write: { authenticate, ...written, unique },
  });
  const targets = (request: (n: number) => Buffer, at = service): [Target, Target] => [
    { port: Number(new URL(at.baseUrl).port), request },
    { port: bare.port, request },
  ];
  const options = { rounds: 7, connections: 16, ms: 1000, expect: 200 };
  try {
    const results: Result[] = [];
    const measured = async (name: string, pair: [Target, Target], budget: number, expect = 200) => {
      const rates = await interleave(...pair, { ...options, expect });
      results.push(atLeast(name, rates.ours, rates.other, "req/s", budget));
    };
    const list = get("/api/partner/orders", headers);
    await measured(
      "order list",
      targets(() => list),
      0.85,
    );
    const fetched = get(`/api/partner/orders/${code}`, headers);
    await measured(
      "order fetch",
      targets(() => fetched),
      0.85,
    );
    // Rate limits are on. After every 64 requests the client's IP address changes, so that no request is refused.
    const address = (n: number) => `10.${(n >> 22) & 255}.${(n >> 14) & 255}.${(n >> 6) & 255}`;
    let sent = 0;
    const me = () => get("/api/partner/me", { ...headers, "X-Forwarded-For": address(sent++) });
    await measured("authenticated request, limits on", targets(me, limited), 0.85);
    // Before an order is placed, a worker thread signs its document as a trial. It tries only one document of each firm
    // at a time, which limits this rate.
    const post = await postBytes(form, headers.Authorization);
    await measured(
      "order create, 100 KB PDF",
      targets(() => post),
      0.7,
      201,
    );
    return results;
  } finally {
    await bare.stop();
    await limited.stop();
    await service.stop();
    folder.remove();
  }
}
