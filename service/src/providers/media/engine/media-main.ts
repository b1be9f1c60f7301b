/**
 * The engine's own process. It parses packets from strangers, so it gets nothing worth stealing: no database, no master
 * key, and no files outside its spool (Node's permission model). It only has the keys of the recordings that it makes.
 */
import { join } from "node:path";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { portPool } from "./connections.ts";
import { guardIce } from "./guarded-ice.ts";
import type { Answered, Call, EngineSettings } from "./messages.ts";
import { Rooms } from "./rooms.ts";

const settings = JSON.parse(process.argv[2] ?? "") as EngineSettings;
guardIce();
const rooms = new Rooms({
  line: { announce: settings.announce, tcp: settings.tcp, ports: portPool(settings.ports) },
  mostSessions: settings.mostSessions,
  folderOf: (session) => join(settings.spoolDir, session),
  now: () => Math.round(performance.timeOrigin + performance.now()) + settings.aheadMs,
  emit: (event) => void process.send?.({ event }),
});

async function perform({ call, args }: Call): Promise<unknown> {
  const work = rooms[call] as (...args: unknown[]) => Promise<unknown>;
  return work.apply(rooms, [...args]);
}

process.on("message", (message: Call) => {
  const answer = (answered: Answered) => void process.send?.(answered);
  perform(message).then(
    (result) => answer({ id: message.id, result }),
    (error: Error) =>
      answer({
        id: message.id,
        error: { code: error instanceof ServiceError ? error.code : null, message: error.message },
      }),
  );
});

// Ends with its parent process, because without the parent nobody would store the recordings.
process.on("disconnect", () => void rooms.stop().finally(() => process.exit(0)));
process.on("SIGTERM", () => {});
process.on("SIGINT", () => {});
process.send?.({ ready: true });
