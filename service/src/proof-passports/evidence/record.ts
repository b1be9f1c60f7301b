import { recordFormat } from "@signsealship/evidence/records";
import type { PassportRow } from "../store.ts";
import { timestampsView, verifyPath } from "../views.ts";

/** The record of a passport as a file. */
export function recordFile(passport: PassportRow, baseUrl: string): Buffer {
  const { verifyCode, environment, docSha256, sealedSha256, createdAt } = passport;
  const record = {
    format: recordFormat,
    verifyCode,
    verifyUrl: `${baseUrl}${verifyPath(verifyCode)}`,
    environment,
    status: "sealed",
    docSha256,
    sealedSha256,
    sealedAtUtc: createdAt.toISOString(),
    timestamps: timestampsView(passport),
  };
  return Buffer.from(`${JSON.stringify(record, null, 2)}\n`);
}
