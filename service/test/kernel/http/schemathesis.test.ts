import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { createClient } from "@signsealship/sdk";
import { type StripeDouble, startStripe } from "@signsealship/testing/doubles/stripe";
import { repeats } from "@signsealship/testing/inputs/fuzz";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { python } from "@signsealship/testing/tools/python";
import { testsNeeding } from "@signsealship/testing/tools/tools";

const { test, before, after } = testsNeeding("python", "schemathesis");

const folder = temporaryFolder();
let service: Service;
let stripe: StripeDouble;
let key: string;

before(async () => {
  stripe = await startStripe();
  service = await startService({
    DATA_DIR: folder.path,
    RATE_LIMITS: "off",
    PLAYBOOKS: "on",
    ...stripe.settings("test"),
  });
  ({ key } = await newPartner(service, { tier: "ClosingDesk" }));
  writeFileSync(join(folder.path, "schemathesis.toml"), await realIds());
});
after(async () => {
  await service.stop();
  await stripe.close();
  folder.remove();
});

/** Ids of existing objects, so that operations don't all fail with "not found". */
async function realIds(): Promise<string> {
  const client = createClient({ baseUrl: service.baseUrl, key });
  const fields = { email: "signer@example.com", byodConfirmed: true, svcSign: true } as const;
  const order = async () => (await client.orders.create(fields, makePdf())).orderCode;
  const room = async () => (await client.rooms.create({ name: "12 Elm Street" })).roomCode;
  const [orderCode, roomCode] = [await order(), await room()];
  await client.rooms.attach(roomCode, { orderCode });
  await client.rooms.addParticipant(roomCode, { name: "Jane Roe", email: "jane@example.com" });
  const [participant] = (await client.rooms.participants(roomCode)).participants;
  const [document] = (await client.orders.documents(orderCode)).documents;
  const closing = await client.rooms.seal(roomCode);
  const passport = await client.passports.seal(makePdf());
  const hook = await client.webhooks.create({ url: "https://hooks.example.com/a", topics: ["order.created"] });
  const { deliveryId } = await client.webhooks.test(hook.id);
  const of = (pattern: string, parameters: Record<string, string | number | undefined>) =>
    `[[operations]]\ninclude-path-regex = "${pattern}"\nparameters = { ${Object.entries(parameters)
      .map(([name, value]) => `"path.${name}" = ${JSON.stringify(value)}`)
      .join(", ")} }\n`;
  return [
    of("/orders/\\\\{code", { code: orderCode, documentId: document?.documentId, n: 1 }),
    of("^/api/rooms/\\\\{roomCode\\\\}", { roomCode, orderCode, participantId: participant?.participantId }),
    // This operation changes the room's code, so it uses a separate room.
    of("/rotate$", { roomCode: await room() }),
    of("/verify/room/", { verifyCode: closing.verifyCode }),
    of("/passport/verify/", { code: passport.verifyCode }),
    of("/api/passport/\\\\{id\\\\}", { id: passport.passportId }),
    of("/webhooks/\\\\{id", { id: hook.id }),
    of("/deliveries/\\\\{deliveryId", { deliveryId }),
    // Until the log includes a new seal, the request for its proof returns 503.
    '[[operations]]\ninclude-path-regex = "/tlog-proof$"\nchecks.not_a_server_error.expected-statuses = ["2xx", "4xx", 503]\n',
  ].join("\n");
}

/** The checks that apply to every request. */
const checks = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
  "unsupported_method",
  "allow_header_conformance",
];

test("every operation answers as /openapi.json states, whatever schemathesis sends", async () => {
  const args = [
    "run",
    `${service.baseUrl}/openapi.json`,
    "--header",
    `Authorization: Bearer ${key}`,
    "--checks",
    checks.join(","),
    "--phases",
    "examples,coverage,fuzzing",
    "--max-examples",
    String(repeats(5, 3, 40)),
    "--seed",
    "1",
    "--request-timeout",
    "30",
    "--generation-database",
    "none",
    "--no-color",
  ];
  const ran = spawn(join(dirname(python), "schemathesis"), args, {
    cwd: folder.path,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([text(ran.stdout), text(ran.stderr), once(ran, "exit")]);
  assert.equal(ran.exitCode, 0, `${stdout.slice(-8000)}${stderr}`);
  assert.match(stdout, /Tested: \d\d/);
});
