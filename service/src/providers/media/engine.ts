/** The media engine: a process that is restarted when it dies, and the tickets that grant access to its sessions. */
import { type ChildProcess, fork } from "node:child_process";
import { mkdirSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { MediaSettings } from "../../kernel/config/media.ts";
import { type Clock, minuteMs } from "../../kernel/platform/clock.ts";
import { BusyError, invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { newCode } from "../../kernel/platform/ids.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { Answered, CallName, EngineSettings, FromEngine } from "./engine/messages.ts";
import { beatFor, isBeat } from "./heartbeat.ts";
import { Endings, roomOf } from "./livekit/endings.ts";
import type { Allowed, ClientMessage, MediaEngine, MediaEvent, RecordingRun, ServerMessage } from "./media.ts";
import { iceServersFor } from "./probe.ts";

type EngineDeps = {
  readonly settings: MediaSettings;
  /** A folder that only the engine uses, with a subfolder for each session. */
  readonly spoolDir: string;
  readonly clock: Clock;
  readonly log: Log;
};

/**
 * The paths of the code and its packages. The engine's process may read only these and its spool folder. The data
 * folder with the keys may be next to the code, and must stay unreadable.
 */
const code = ["node_modules", "packages", "service/src", "service/package.json", "package.json"].map((path) =>
  fileURLToPath(new URL(`../../../../${path}`, import.meta.url)),
);
/** The minimum number of ports for a session: two participants with two connections each. */
const portsOfSession = 4;
const maxSessions = 200;
/** The delay before the process is restarted, so that a process that dies at once doesn't restart in a tight loop. */
const restartMs = 500;
/**
 * The process counts as unresponsive if it does not answer a message within this time. A negotiation takes some 50 ms.
 */
const answerMs = 20_000;
/** The longest time that a process may take to start. Usually it loads its packages within 2 s. */
const startMs = minuteMs;
const stopMs = 10_000;
/** The largest heap of the process: twice the memory that 60 rooms with three people need. */
const heapMb = 1_024;
/**
 * Most packets are freed soon, so a large young generation would only hold garbage. With 4 MB, a session of three
 * participants takes 7 MB instead of 19 MB, for 15 % more CPU.
 */
const youngMb = 4;

const isName = (name: unknown): boolean => typeof name === "string" && /^[A-Za-z0-9-]{1,64}$/.test(name);

type Waiting = { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void };

/** Flags of Node's permission model: no files but the code and the spool; no processes, threads or add-ons. */
export const permissionsFor = (spoolDir: string): string[] => [
  "--permission",
  ...[...code, spoolDir].map((path) => `--allow-fs-read=${path}`),
  `--allow-fs-write=${spoolDir}`,
];

const sessionsWith = (settings: MediaSettings): number =>
  settings.engine === "livekit"
    ? maxSessions
    : Math.min(maxSessions, Math.floor((settings.ports[1] - settings.ports[0] + 1) / portsOfSession));

function startProcess({ settings, spoolDir, clock }: EngineDeps): ChildProcess {
  mkdirSync(spoolDir, { recursive: true, mode: 0o700 });
  const { turn: _, ...media } = settings;
  const engine: EngineSettings = {
    media,
    maxSessions: sessionsWith(settings),
    spoolDir,
    aheadMs: clock().getTime() - Date.now(),
  };
  const child = fork(new URL("./engine/media-main.ts", import.meta.url), [], {
    execArgv: [
      ...permissionsFor(realpathSync(spoolDir)),
      "--disable-sigusr1",
      "--disable-warning=ExperimentalWarning",
      `--max-old-space-size=${heapMb}`,
      `--max-semi-space-size=${youngMb}`,
    ],
    // The process gets none of the service's environment variables, because they contain keys and passwords.
    // MALLOC_ARENA_MAX saves 8 MB: by default glibc creates more memory arenas.
    env: { MALLOC_ARENA_MAX: "2" },
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  child.send(engine, () => {});
  return child;
}

/** The engine's process, which is restarted when it dies. */
class EngineProcess {
  readonly #deps: EngineDeps;
  readonly #onEvent: (event: MediaEvent) => void;
  readonly #onDeath: () => void;
  #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #child: ChildProcess | null = null;
  #isStopped = false;
  #ready: Promise<void>;

  constructor(deps: EngineDeps, onEvent: (event: MediaEvent) => void, onDeath: () => void) {
    this.#deps = deps;
    this.#onEvent = onEvent;
    this.#onDeath = onDeath;
    this.#ready = this.#start();
    this.#ready.catch(() => {});
  }

  #start(): Promise<void> {
    const own = startProcess(this.#deps);
    this.#child = own;
    let words = "";
    own.stderr?.on("data", (data: Buffer) => {
      words = (words + data.toString()).slice(-2_000);
    });
    const hang = (why: string) => {
      this.#deps.log.error({}, why);
      own.kill("SIGKILL");
    };
    const starting = setTimeout(() => hang("the media engine does not start, and is ended"), startMs).unref();
    const beats = beatFor(own, () => hang("the media engine's process hangs, and is ended"));
    const isReady = () => {
      clearTimeout(starting);
      beats.begin();
    };
    return new Promise<void>((resolve, reject) => {
      const end = (how: string) => {
        clearTimeout(starting);
        beats.end();
        reject(new BusyError("The media engine starts. Try again in a few seconds."));
        this.#died(own, how, words);
      };
      own.on("message", (message: FromEngine) => {
        if (isBeat(message)) return beats.answered();
        if ("ready" in message) {
          isReady();
          resolve();
        } else if ("event" in message) this.#onEvent(message.event);
        else if ("warning" in message) this.#deps.log.warn({}, message.warning);
        else this.#settle(message);
      });
      // A process that could not be started only emits "error", never "exit".
      own.on("error", (error) => end(error.message));
      own.on("exit", (code, signal) => end(`${signal ?? code}`));
    });
  }

  #settle(answered: Answered): void {
    const asked = this.#waiting.get(answered.id);
    this.#waiting.delete(answered.id);
    if (!asked) return;
    if ("result" in answered) asked.resolve(answered.result);
    else if (answered.error.code === null)
      asked.reject(new Error(`the media engine failed: ${answered.error.message}`));
    else asked.reject(new ServiceError(answered.error.code, answered.error.message));
  }

  #died(own: ChildProcess, how: string, words: string): void {
    if (this.#child !== own) return;
    this.#child = null;
    const asked = [...this.#waiting.values()];
    this.#waiting = new Map();
    for (const { reject } of asked) reject(new BusyError("The media engine was restarted. Try again."));
    if (this.#isStopped) return;
    this.#deps.log.error({ how, words }, "the media engine's process died and is started again");
    this.#ready = new Promise<void>((resolve) => setTimeout(resolve, restartMs)).then(async () => {
      if (!this.#isStopped) await this.#start();
    });
    this.#ready.catch(() => {});
    this.#onDeath();
  }

  async ask<T>(call: CallName, ...args: unknown[]): Promise<T> {
    await this.#ready;
    const own = this.#child;
    if (!own || this.#isStopped) throw new BusyError("The media engine is not running.");
    const id = this.#nextId++;
    const timer = setTimeout(() => {
      this.#deps.log.error({ call }, "the media engine does not answer, and is ended");
      own.kill("SIGKILL");
    }, answerMs);
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#waiting.set(id, { resolve: (value) => resolve(value as T), reject });
        own.send({ id, call, args }, (error) => {
          if (error) reject(error);
        });
      });
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    const own = this.#child;
    const late = new Promise((resolve) => setTimeout(resolve, stopMs).unref());
    if (own) await Promise.race([this.ask("stop").catch(() => {}), late]);
    this.#isStopped = true;
    own?.kill("SIGKILL");
  }
}

type Tickets = Map<string, { session: string; person: string }>;

/**
 * Ends the person's earlier tickets for the same session. The map has the tickets in the order in which the tickets
 * were requested.
 */
function endBefore(ticket: string, tickets: Tickets): void {
  const own = tickets.get(ticket);
  if (!own) return;
  for (const [earlier, { session, person }] of tickets) {
    if (earlier === ticket) return;
    if (session === own.session && person === own.person) tickets.delete(earlier);
  }
}

export function openMediaEngine(deps: EngineDeps): MediaEngine {
  const { settings, clock, log } = deps;
  const now = () => clock().getTime();
  const onLate = (message: string) => log.warn({}, message);
  const endings = settings.engine === "livekit" ? new Endings({ livekit: settings, now, onLate }) : null;
  const listeners = new Set<(event: MediaEvent) => void>();
  const tickets: Tickets = new Map();
  /** The open sessions, each with the name of its LiveKit room, which is new at each opening. */
  const sessions = new Map<string, string>();
  const emit = (event: MediaEvent) => {
    for (const listener of listeners) listener(event);
  };
  const forget = (session: string, person?: string) => {
    if (person === undefined) sessions.delete(session);
    for (const [ticket, of] of tickets)
      if (of.session === session && (person === undefined || of.person === person)) tickets.delete(ticket);
  };
  const engine = new EngineProcess(
    deps,
    (event) => {
      if (event.kind === "broken") forget(event.session);
      emit(event);
    },
    () => {
      const lost = [...sessions.keys()];
      // Without the process nothing is recorded, so LiveKit must stop forwarding media.
      for (const place of sessions.values()) void endings?.room(place);
      sessions.clear();
      tickets.clear();
      emit({ kind: "lost", sessions: lost });
    },
  );
  return {
    async open(session: string, recording: RecordingRun | null) {
      if (!isName(session)) throw invalid("session must have 1 to 64 letters, digits and dashes");
      const place = roomOf(session, newCode());
      if (!sessions.has(session)) await endings?.beforeOpening(session);
      await engine.ask("open", session, recording, place);
      sessions.set(session, place);
    },
    async admit(session: string, person: string, allowed: Allowed) {
      if (!isName(person)) throw invalid("person must have 1 to 64 letters, digits and dashes");
      const ticket = newCode();
      // The ticket is stored before the process answers: two admissions of one person may be answered in any order, and
      // the ticket of the later request must work.
      tickets.set(ticket, { session, person });
      try {
        await engine.ask("admit", session, person, allowed);
      } catch (error) {
        tickets.delete(ticket);
        throw error;
      }
      endBefore(ticket, tickets);
      return { ticket, iceServers: iceServersFor(settings, session, clock()) };
    },
    async signal(ticket: string, message: ClientMessage) {
      const of = tickets.get(ticket);
      if (!of) throw new ServiceError("not_found", "The ticket is not one of an open session.");
      return engine.ask<ServerMessage[]>("signal", of.session, of.person, message);
    },
    mute: (session, person, muted) => engine.ask("mute", session, person, muted),
    async remove(session, person) {
      forget(session, person);
      await engine.ask("remove", session, person);
    },
    async close(session, everywhere = false) {
      const wasOpen = sessions.has(session);
      await engine.ask("close", session);
      forget(session);
      // Ends the LiveKit rooms that another node, or this one before its restart, opened for the session. If the
      // LiveKit server does not respond, `endings` retries in the background, so that the session can end now.
      if (everywhere && !wasOpen) await endings?.earlierRooms(session);
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    stop: () => engine.stop(),
  };
}
