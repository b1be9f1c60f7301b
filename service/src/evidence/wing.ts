import type { RequireStorage } from "../firms/partners/partners.ts";
import { minuteMs, secondMs } from "../kernel/platform/clock.ts";
import type { DocumentNames } from "../kernel/platform/document-name.ts";
import type { PeriodicTask } from "../kernel/platform/work/periodic.ts";
import type { Workers } from "../kernel/platform/workers/task.ts";
import type { Resources } from "../kernel/resources.ts";
import type { Wing } from "../kernel/wing.ts";
import type { Anchoring } from "./anchoring/anchoring.ts";
import { openPassports, passportRoutes } from "./proof-passports/proof-passports.ts";
import type { Sealing } from "./seals/seals.ts";
import { anchorRoots, logOrigins, logRoutes, type TransparencyLog } from "./transparency-log/transparency-log.ts";
import { openWitness, witnessRoutes } from "./witness/witness.ts";

type Parts = {
  names: DocumentNames;
  workers: Workers;
  sealing: Sealing;
  /** Null if no OpenTimestamps calendars are configured. */
  anchoring: Anchoring | null;
  transparencyLog: TransparencyLog;
  requireStorage: RequireStorage;
};

/** Opens proof passports. Also lists the work of the seals' anchors, the transparency log and the witness. */
export function openEvidenceWing(resources: Resources, parts: Parts) {
  const { config, db, clock, log, rowMac } = resources;
  const { sealing, anchoring, transparencyLog } = parts;
  // Unless each seal is anchored, seals are anchored only through the roots of the transparency log.
  const { passports, proofCertificate } = openPassports(resources, {
    ...parts,
    anchoring: config.otsEachSeal ? anchoring : null,
  });
  const { waits: logWaits, policy } = transparencyLog;
  const wing: Wing = {
    async routes(app, { frame, uploadPlaces }) {
      const { trustList } = sealing;
      passportRoutes(app, { frame, passports, uploadPlaces, trustList, proofCertificate, logWaits });
      const witness = await openWitness(config, await logOrigins(db));
      if (witness) await witnessRoutes(app, { db, rowMac, clock, log, witness }, frame.limits);
      logRoutes(app, { db, clock, limits: frame.limits, policy, rootIntervalMs: config.logRootIntervalMs });
    },
    tasks: tasksOf(resources, parts),
  };
  return { passports, wing };
}

export type Evidence = ReturnType<typeof openEvidenceWing>;

const tasksOf = (resources: Resources, { sealing, anchoring, transparencyLog }: Parts): PeriodicTask[] => {
  const { clock, config } = resources;
  const intervalMs = config.logRootIntervalMs;
  // All time stamp authorities and calendars anchor the log's roots.
  const roots = { ...resources, intervalMs, stampers: sealing.stampers, calendars: anchoring?.calendars ?? null };
  return [
    { name: "transparency log", everyMs: secondMs / 4, atStart: true, work: transparencyLog.turn },
    { name: "witnesses of the transparency log", everyMs: secondMs, work: transparencyLog.askWitnesses },
    {
      name: "hourly roots of the log",
      everyMs: Math.min(minuteMs, intervalMs),
      work: (stopping) => anchorRoots(roots, stopping),
    },
    ...(anchoring
      ? [
          {
            name: "unconfirmed anchors",
            everyMs: minuteMs,
            work: (stopping: AbortSignal) => anchoring.upgradePending(clock(), stopping),
          },
        ]
      : []),
  ];
};
