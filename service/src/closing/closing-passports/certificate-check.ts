import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { selectChainPem } from "../../evidence/seals/seals.ts";
import type { Blobs } from "../../kernel/platform/blobs/blobs.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import type { Task, Workers } from "../../kernel/platform/workers/task.ts";
import type { CheckInput } from "./certificate-check-task.ts";
import { withCertificate } from "./certificate-file.ts";
import type { StoredVersion, VersionDeps } from "./versions.ts";

/**
 * Compares versions with their archived certificates. The seal of a certificate proves its content even if an attacker
 * can change the database.
 */
export type CertificateCheck = {
  /**
   * True if the archived certificate exists, its seal verifies, and it contains the row's manifest. Also true when the
   * retention plan has deleted the certificate.
   * @throws ServiceError `unavailable` when the certificate can't be read or checked now
   */
  holds: (row: StoredVersion) => Promise<boolean>;
  /** Remembers a new certificate as verified, so that it need not be read and verified again. */
  remember: (sealed: { sealedSha256: string; manifestSha256: string }) => void;
};

export type CheckedVersionDeps = VersionDeps & { certificates: CertificateCheck };

const task: Task<CheckInput, string | null> = {
  name: "check a certificate",
  module: import.meta.resolve("./certificate-check-task.ts"),
  limitMs: 30_000,
};

/** An entry consists of two hashes, so a full cache takes about 3 MB. */
const maxRemembered = 10_000;

/**
 * Remembers the manifest of each verified certificate, because a file with a given hash always has the same manifest.
 * So a node need not read, decrypt and verify the same certificate again. That work would be most of a public
 * verification (`npm run bench closing`).
 */
export function createCertificateCheck(
  deps: VersionDeps & { db: Sql; blobs: Blobs; workers: Workers },
): CertificateCheck {
  const manifestOf = new LRUCache<string, string>({ max: maxRemembered });
  return {
    async holds(row) {
      // The retention plan deleted the certificate, so only the row's MAC proves the version.
      if (row.deletedAt) return true;
      const cached = manifestOf.get(row.sealedSha256);
      if (cached !== undefined) return cached === row.manifestSha256;
      const found = await manifestIn(deps, row);
      if (found !== null) manifestOf.set(row.sealedSha256, found);
      if (found === row.manifestSha256) return true;
      const { roomId, version } = row;
      deps.log.error({ roomId, version }, "a closing passport's manifest is not the one of its sealed certificate");
      return false;
    },
    remember: ({ sealedSha256, manifestSha256 }) => void manifestOf.set(sealedSha256, manifestSha256),
  };
}

async function manifestIn(
  deps: VersionDeps & { db: Sql; blobs: Blobs; workers: Workers },
  row: StoredVersion,
): Promise<string | null> {
  const chainPem = await selectChainPem(deps.db, row.sealChain);
  if (chainPem === undefined || hash("sha256", chainPem) !== row.sealChain) return null;
  const { partnerId: holder, environment, createdAt: at } = row;
  const input = { chainPem, environment, at };
  return withCertificate(deps, row, (bytes) => deps.workers.run(task, { holder, bytes, input }));
}
