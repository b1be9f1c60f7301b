import type { Owner } from "../kernel/identity/identity.ts";
import type { Fetch } from "../kernel/platform/bounds/bounded-request.ts";
import { hourMs, secondMs } from "../kernel/platform/clock.ts";
import { type Sql, withLongStatements } from "../kernel/platform/database/database.ts";
import type { PeriodicTask } from "../kernel/platform/work/periodic.ts";
import type { Workers } from "../kernel/platform/workers/task.ts";
import type { Resources } from "../kernel/resources.ts";
import type { Wing } from "../kernel/wing.ts";
import { accessMail, accessRoutes, openAccess } from "./access-requests/access-requests.ts";
import { liveAccessMail } from "./live-requests/live-requests.ts";
import {
  confirmationMail,
  factorMail,
  invitationMail,
  keyMail,
  linkRoute,
  memberMail,
  sessionResolver,
  signInMail,
  sweepInvitations,
  sweepSessions,
} from "./members/members.ts";
import { operatorMail } from "./operators/operators.ts";
import {
  createStorageQuota,
  type FirstTimes,
  keyForMeResolver,
  keyLimitsOf,
  keyResolver,
  type LastUse,
  launchpadRoutes,
  type OpenRooms,
  openLaunchpad,
  partnerRoutes,
  type StoredBlobs,
  storageUse,
  storedBytesOf,
  type TierLimits,
} from "./partners/partners.ts";

type Parts = {
  workers: Workers;
  lastUse: LastUse;
  rules: { tierLimits: TierLimits; trialsPerDomain: number };
  fetch: Fetch;
  /** Counts a firm's open rooms: in the read of its key, and in a query of its own. */
  rooms: { openRoomsOf: OpenRooms; countOpenRooms: (db: Sql, owner: Owner) => Promise<number> };
  firstTimes: FirstTimes;
  storedBlobs: readonly StoredBlobs[];
};

const mails = [
  accessMail,
  liveAccessMail,
  signInMail,
  confirmationMail,
  factorMail,
  memberMail,
  keyMail,
  invitationMail,
  operatorMail,
];

/** Opens firms, their members and their keys, and the requests for access. */
export function openFirmsWing(resources: Resources, parts: Parts) {
  const { config, db, clock, random, rowMac, secrets } = resources;
  const { workers, lastUse, rules, rooms, storedBlobs } = parts;
  const { origin: ownOrigin } = new URL(config.baseUrl);
  const limitsOf = keyLimitsOf(rules.tierLimits);
  const members = { db, clock, random, rowMac, secrets, workers, ownOrigin, keyLimitsOf: limitsOf };
  const requestAccess = openAccess(resources, parts.fetch, rules.trialsPerDomain);
  const readLaunchpad = openLaunchpad(db, parts.firstTimes);
  const maxStored = storedBytesOf(rules.tierLimits);
  const wing: Wing = {
    routes(app, { frame }) {
      partnerRoutes(app, {
        ...frame,
        resolveKeyForMe: keyForMeResolver({ ...resources, lastUse }, rooms.openRoomsOf),
        countOpenRooms: (owner) => rooms.countOpenRooms(db, owner),
      });
      linkRoute(app, { ...frame, ...members });
      launchpadRoutes(app, { ...frame, readLaunchpad });
      accessRoutes(app, { ...frame, requestAccess });
    },
    jobs(jobs, mailDeps) {
      for (const mail of mails) mail.work(jobs, mailDeps);
    },
    tasks: tasksOf(resources, lastUse),
  };
  return {
    callers: {
      resolveKey: keyResolver({ ...resources, lastUse }),
      resolveSession: sessionResolver(resources),
      ownOrigin,
    },
    members,
    requestAccess,
    readLaunchpad,
    requireStorage: createStorageQuota(resources, maxStored, storedBlobs),
    storageUse: storageUse(db, maxStored, storedBlobs),
    wing,
  };
}

export type Firms = ReturnType<typeof openFirmsWing>;

const tasksOf = ({ db, clock }: Resources, lastUse: LastUse): PeriodicTask[] => {
  const sweeper = withLongStatements(db);
  return [
    { name: "last use of keys", everyMs: 30 * secondMs, work: lastUse.flush },
    { name: "expired sessions and sign-in links", everyMs: hourMs, work: () => sweepSessions(sweeper, clock()) },
    {
      name: "invitations of long ago",
      everyMs: hourMs,
      work: async () => void (await sweepInvitations(sweeper, clock())),
    },
  ];
};
