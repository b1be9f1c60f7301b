import { connectionTo } from "@signsealship/testing/database";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import { passportStatement } from "../service/src/evidence/proof-passports/store.ts";
import { atLeast, type Result } from "./result.ts";
import { portableFor, startBare } from "./support/bare.ts";
import { get, interleave, type Target } from "./support/http-load.ts";

/** Verification of a proof passport over HTTP, compared with bare Fastify that runs the same database read. */
export async function run(): Promise<Result[]> {
  const folder = temporaryFolder();
  const service = await startService({ DATA_DIR: folder.path, RATE_LIMITS: "off", LOG_LEVEL: "info" });
  const { headers } = await newPartner(service);
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(makePdf())]), "deed.pdf");
  const sealed = await fetch(`${service.baseUrl}/api/passport/seal`, { method: "POST", headers, body: form });
  const { verifyCode } = (await sealed.json()) as { verifyCode: string };
  const path = `/api/passport/verify/${verifyCode}`;
  const portable = await portableFor(folder.path);
  const bare = await startBare({
    connection: connectionTo(folder.path),
    folder: folder.path,
    reads: { [path]: [portable(passportStatement(verifyCode))] },
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
    return [atLeast("proof verify", rates.ours, rates.other, "req/s", 0.8)];
  } finally {
    await bare.stop();
    await service.stop();
    folder.remove();
  }
}
