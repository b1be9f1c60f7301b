import type { Sealing } from "../../evidence/seals/seals.ts";
import type { TransparencyLog } from "../../evidence/transparency-log/transparency-log.ts";
import type { RequireStorage } from "../../firms/partners/partners.ts";
import { createKeyedSemaphore } from "../../kernel/platform/bounds/keyed-semaphore.ts";
import type { Workers } from "../../kernel/platform/workers/task.ts";
import type { Resources } from "../../kernel/resources.ts";
import type { TitleOf } from "../../orders/order/order.ts";
import { drawIn } from "./certificate/draw.ts";
import { createCertificateCheck } from "./certificate-check.ts";
import type { SealClosingDeps } from "./seal-version.ts";

export { type ListedFile, listsDocument } from "./artifacts.ts";
export { createCertificateCheck } from "./certificate-check.ts";
export { type CertificateDeps, certificateOfRoom, openCertificate, wasSealed } from "./certificate-file.ts";
export {
  type ClosingRecord,
  type ClosingVersionRecord,
  closingLogProof,
  closingRecord,
  logEntryOf,
  nextVersionOf,
  readManifest,
} from "./public-record.ts";
export { closingRoutes } from "./routes.ts";
export { type SealClosingDeps, sealClosing } from "./seal-version.ts";
export { closingSealJobs } from "./seal-when-done.ts";
export { queueEarlierVersions } from "./store.ts";
export {
  closingSource,
  firstClosing,
  loggedClosings,
  protectedTables,
  type StoredVersion,
  storedClosings,
} from "./versions.ts";

type Parts = {
  workers: Workers;
  sealing: Sealing;
  titleOf: TitleOf;
  requireStorage: RequireStorage;
  newestCheckpoint: TransparencyLog["newestSeen"];
};

// Each seal holds a database connection while it waits for a time stamp, and the pool has 20 connections.
const sealsAtOnce = 4;

export function openClosings(
  resources: Resources,
  { workers, sealing, titleOf, requireStorage, newestCheckpoint }: Parts,
): SealClosingDeps {
  const { config, db, clock, log, rowMac, blobs } = resources;
  const store = { db, clock, log, rowMac, blobs };
  return {
    ...store,
    certificates: createCertificateCheck({ ...store, workers }),
    issuing: { sealing, drawCertificate: drawIn(workers), titleOf, newestCheckpoint, baseUrl: config.baseUrl },
    limits: { requireStorage, semaphore: createKeyedSemaphore(sealsAtOnce) },
  };
}
