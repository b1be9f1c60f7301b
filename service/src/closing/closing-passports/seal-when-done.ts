/**
 * Seals the certificate of a closing without a person's click, once every order has ended and at least one is
 * completed.
 */
import { AlteredRecordError, ServiceError } from "../../kernel/platform/errors.ts";
import type { Jobs } from "../../kernel/platform/jobs/jobs.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import {
  type DueSeal,
  endSealWish,
  hasEnded,
  noteSealProblem,
  openRound,
  roomToSeal,
  sealQueue,
} from "../rooms/rooms.ts";
import { type Firm, type SealClosingDeps, sealInTurn, VersionQuotaError, type WhenDone } from "./seal-version.ts";
import type { RoomOfOwner } from "./store.ts";

type Deps = SealClosingDeps & { log: Log };

/**
 * Processes the queue of closings that are due for their automatic seal. None is sealed twice: one transaction commits
 * the version and ends the request. A lock lets only one node seal the room.
 */
export const closingSealJobs = (jobs: Jobs, deps: Deps): void =>
  jobs.work<{ roomId: string }>(sealQueue, ({ roomId }) => sealRoom(deps, roomId), { maxAttempts: 1 });

async function sealRoom(deps: Deps, roomId: string): Promise<void> {
  const { db, log } = deps;
  try {
    const room = await roomToSeal(db, roomId);
    if (!room) throw new AlteredRecordError(`room ${roomId}`);
    await seal(deps, room);
  } catch (error) {
    log.error({ err: error, room: roomId }, "a closing's certificate was not sealed");
    const problem = error instanceof ServiceError ? error.message : altered;
    await noteSealProblem(db, roomId, { problem, isFinal: error instanceof VersionQuotaError });
  }
}

const altered = "A record of the closing is not what was written. The operator of this service has to look at it.";

async function seal(deps: Deps, { roomId, roomCode, ...firm }: DueSeal): Promise<void> {
  await sealEnded(deps, firm, {
    roomId,
    roomCode,
    actor: "system",
    async begin(tx) {
      const open = await openRound(tx, roomId);
      return (
        open && {
          // Checks the statuses of the room's orders again, because they were read without a lock when the closing was
          // queued.
          isReady: (statuses) => statuses.includes("Completed") && statuses.every(hasEnded),
          sealed: (version, at) => endSealWish(tx, roomId, { ...open, version, at }),
        }
      );
    },
  });
}

/**
 * Seals a closing whose orders have ended, if the request is still open. If a person has already sealed a version of
 * the same documents in the same state, that version fulfills the request.
 */
async function sealEnded(
  deps: SealClosingDeps,
  firm: Firm & Pick<RoomOfOwner, "environment">,
  { roomId, roomCode, actor, ...whenDone }: { roomId: string; roomCode: string; actor: string } & WhenDone,
): Promise<void> {
  const room = { roomCode, partnerId: firm.partnerId, environment: firm.environment };
  const asked = { principal: firm, room, roomId, expected: null, actor, whenDone };
  await deps.limits.semaphore(roomId, () => sealInTurn(deps, asked), firm.partnerId);
}
