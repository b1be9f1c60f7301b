import type { RequireStorage } from "../../firms/partners/partners.ts";
import type { DocumentNames } from "../../kernel/platform/document-name.ts";
import type { Workers } from "../../kernel/platform/workers/task.ts";
import type { Resources } from "../../kernel/resources.ts";
import type { Anchoring } from "../anchoring/anchoring.ts";
import type { Sealing } from "../seals/seals.ts";
import type { TransparencyLog } from "../transparency-log/transparency-log.ts";
import { openProofCertificates } from "./certificate/make.ts";

type Parts = {
  names: DocumentNames;
  workers: Workers;
  sealing: Pick<Sealing, "sealDocument" | "chainPem">;
  anchoring: Anchoring | null;
  transparencyLog: Pick<TransparencyLog, "origins">;
  requireStorage: RequireStorage;
};

/** Opens proof passports and their certificates. */
export function openPassports(resources: Resources, parts: Parts) {
  const { config, db, clock, log, rowMac, blobs } = resources;
  const { names, workers, sealing, anchoring, transparencyLog, requireStorage } = parts;
  const { baseUrl, keepSealed } = config;
  const store = { db, clock, log, rowMac, blobs, names };
  return {
    passports: {
      ...store,
      sealing,
      publication: { baseUrl, anchoring, logOrigins: transparencyLog.origins },
      requireStorage: keepSealed ? requireStorage : null,
    },
    proofCertificate: openProofCertificates({ ...store, making: { workers, sealing, baseUrl } }),
  };
}
