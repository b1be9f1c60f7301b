/**
 * The main program of the engine's process. It parses packets from strangers, so it has no database and no master key.
 * Node's permission model lets it read only the code and its spool, and write only the spool. It only has the keys of
 * its own recordings, and LiveKit's key where LiveKit forwards the media.
 */
import { once } from "node:events";
import { join } from "node:path";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { type Beat, expectBeats, isBeat } from "../heartbeat.ts";
import { type LineSettings, openPublishing, portPool } from "./connections.ts";
import { guardDtls } from "./guarded-dtls.ts";
import { guardIce } from "./guarded-ice.ts";
import type { Answered, Call, EngineSettings } from "./messages.ts";
import { Rooms } from "./rooms.ts";
import { Subscription } from "./subscription.ts";
import type { Transport } from "./transport.ts";

const embeddedTransport = (settings: LineSettings): Transport => ({
  open: () => {},
  close: () => Promise.resolve(),
  publish: (input) => openPublishing({ settings, ...input }),
  receive: (input) => new Subscription({ settings, ...input }),
  dropsPackets: true,
});

process.on("SIGTERM", () => {});
process.on("SIGINT", () => {});
// The settings may contain a key, so they are not passed as arguments: every user of the machine can read a process's
// arguments.
const [settings] = (await once(process, "message")) as [EngineSettings];
guardIce();
guardDtls();
let checkBeats = (): void => {};
const now = () => {
  checkBeats();
  return Math.round(performance.timeOrigin + performance.now()) + settings.aheadMs;
};
const { media } = settings;
/**
 * Sends a message to the service. Without a callback, sending after the service has ended would end this process at
 * once.
 */
const send = (message: object) => void process.send?.(message, () => {});
const warn = (warning: string) => send({ warning });
const rooms = new Rooms({
  transport:
    media.engine === "livekit"
      ? (await import("../livekit/transport.ts")).livekitTransport(media, now, warn)
      : embeddedTransport({ announce: media.announce, tcp: media.tcp, ports: portPool(media.ports) }),
  maxSessions: settings.maxSessions,
  folderOf: (session) => join(settings.spoolDir, session),
  now,
  emit: (event) => send({ event }),
});

async function perform({ call, args }: Call): Promise<unknown> {
  const work = rooms[call] as (...args: unknown[]) => Promise<unknown>;
  return work.apply(rooms, [...args]);
}

// The service sends heartbeats once this process is ready.
const beats = expectBeats(() => {
  process.stderr.write("the service does not answer, so this process ends: another node may have its sessions\n");
  process.exit(1);
});
checkBeats = beats.check;
process.on("message", (message: Call | Beat) => {
  if (isBeat(message)) {
    beats.heard();
    send({ beat: true } satisfies Beat);
    return;
  }
  const answer = (answered: Answered) => send(answered);
  perform(message).then(
    (result) => answer({ id: message.id, result }),
    (error: Error) =>
      answer({
        id: message.id,
        error: { code: error instanceof ServiceError ? error.code : null, message: error.message },
      }),
  );
});

// When the parent process ends, this process ends too, because nobody else would store the recordings. If a disk or
// connection hangs, this process ends after this time, because it would otherwise keep its ports.
const maxStopMs = 30_000;
process.on("disconnect", () => {
  // The heartbeats end now. Writing the remaining chunks to a slow disk may take longer than the permitted silence.
  beats.end();
  setTimeout(() => process.exit(1), maxStopMs).unref();
  void rooms.stop().finally(() => process.exit(0));
});
send({ ready: true });
