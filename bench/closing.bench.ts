import { connectionTo } from "@signsealship/testing/database";
import { verificationStatement } from "../service/src/closing/closing-passports/verify.ts";
import { atLeast, type Result } from "./result.ts";
import { portableFor, startBare } from "./support/bare.ts";
import { closingFiles } from "./support/closing-files.ts";
import { closingMoney } from "./support/closing-money.ts";
import { closingPages } from "./support/closing-pages.ts";
import { get, interleave, type Target } from "./support/http-load.ts";
import { openRoomsFixture } from "./support/rooms-fixture.ts";

/**
 * Measures a closing's files, pages and payments, each against its budget, and the speed of its public verification.
 */
export async function run(): Promise<Result[]> {
  return [
    ...(await closingFiles()),
    ...(await closingPages()),
    ...(await closingMoney()),
    ...(await publicVerification()),
  ];
}

/**
 * Public verification of version 2 of a closing passport, in a room with 50 orders. Compared with bare Fastify that
 * runs the same database read.
 */
async function publicVerification(): Promise<Result[]> {
  const { service, headers, roomCode, close } = await openRoomsFixture();
  let verifyCode = "";
  for (let version = 1; version <= 2; version++) {
    const response = await fetch(`${service.baseUrl}/api/rooms/${roomCode}/passport`, { method: "POST", headers });
    ({ verifyCode } = (await response.json()) as { verifyCode: string });
  }
  const path = `/api/verify/room/${verifyCode}`;
  const portable = await portableFor(service.dataDir);
  const bare = await startBare({
    connection: connectionTo(service.dataDir),
    folder: service.dataDir,
    reads: { [path]: [portable(verificationStatement(verifyCode))] },
  });
  const request = get(path);
  const target = (port: number): Target => ({ port, request: () => request });
  try {
    const rates = await interleave(target(Number(new URL(service.baseUrl).port)), target(bare.port), {
      rounds: 7,
      connections: 16,
      ms: 1000,
      expect: 200,
    });
    return [atLeast("closing verify, 50 orders", rates.ours, rates.other, "req/s", 0.8)];
  } finally {
    await bare.stop();
    await close();
  }
}
