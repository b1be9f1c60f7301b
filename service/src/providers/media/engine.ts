/** The engine in this service: its process, which is started again when it dies, and the tickets that lead to it. */
import { type ChildProcess, fork } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { MediaSettings } from "../../kernel/config/media.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import { BusyError, invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { newCode } from "../../kernel/platform/ids.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { CallName, EngineSettings, FromEngine } from "./engine/messages.ts";
import type { Allowed, ClientMessage, IceServer, MediaEngine, MediaEvent, RecordingRun, ServerMessage } from "./media.ts";

type EngineDeps = {
  readonly settings: MediaSettings;
  /** A folder of the engine's own; each session has a folder in it. */
  readonly spoolDir: string;
  readonly clock: Clock;
  readonly log: Log;
};

/** Code and packages: all that the process may read besides its spool. */
const root = fileURLToPath(new URL("../../../..", import.meta.url));
/** Each session has at least two people with two connections each. */
const portsOfSession = 4;
const mostSessions = 200;
/** A process that dies at once is not started at once again. */
const restartMs = 500;
/** A negotiation takes some 50 ms; a process that does not answer for so long hangs. */
const answerMs = 20_000;
const stopMs = 10_000;
/** coturn's `use-auth-secret`; as long as the longest session. */
const turnSeconds = 4 * 60 * 60;
/** Twice the memory of 60 rooms of three. */
const heapMb = 1_024;

const isName = (name: unknown): boolean => typeof name === "string" && /^[A-Za-z0-9-]{1,64}$/.test(name);

type Waiting = { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void };

function startProcess({ settings, spoolDir, clock }: EngineDeps): ChildProcess {
  mkdirSync(spoolDir, { recursive: true, mode: 0o700 });
  const engine: EngineSettings = {
    announce: settings.announce,
    ports: settings.ports,
    tcp: settings.tcp,
    mostSessions: Math.min(mostSessions, Math.floor((settings.ports[1] - settings.ports[0] + 1) / portsOfSession)),
    spoolDir,
    aheadMs: clock().getTime() - Date.now(),
  };
  const permissions = ["--permission", `--allow-fs-read=${root}`, `--allow-fs-read=${spoolDir}`, `--allow-fs-write=${spoolDir}`];
  const child = fork(new URL("./engine/media-main.ts", import.meta.url), [JSON.stringify(engine)], {
    execArgv: [...permissions, "--disable-sigusr1", "--disable-warning=ExperimentalWarning", `--max-old-space-size=${heapMb}`],
    // No variable of the service's: they name keys and passwords.
    env: {},
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  return child;
}

export function openMediaEngine(deps: EngineDeps): MediaEngine {
  const { settings, log, clock } = deps;
  const listeners = new Set<(event: MediaEvent) => void>();
  const tickets = new Map<string, { session: string; person: string }>();
  const sessions = new Set<string>();
  let waiting = new Map<number, Waiting>();
  let nextId = 1;
  let child: ChildProcess | null = null;
  let isStopped = false;
  let ready: Promise<void> = start();

  function emit(event: MediaEvent): void {
    for (const listener of listeners) listener(event);
  }

  function start(): Promise<void> {
    const own = startProcess(deps);
    child = own;
    let words = "";
    own.stderr?.on("data", (data: Buffer) => {
      words = (words + data.toString()).slice(-2_000);
    });
    return new Promise<void>((resolve, reject) => {
      own.on("message", (message: FromEngine) => {
        if ("ready" in message) resolve();
        else receive(message);
      });
      own.on("error", (error) => log.error({ err: error }, "the media engine's process has an error"));
      own.on("exit", (code, signal) => {
        reject(new BusyError("The media engine starts. Try again in a few seconds."));
        died(own, `${signal ?? code}`, words);
      });
    });
  }

  function receive(message: Exclude<FromEngine, { ready: true }>): void {
    if ("event" in message) {
      if (message.event.kind === "broken") forget(message.event.session);
      emit(message.event);
      return;
    }
    const asked = waiting.get(message.id);
    waiting.delete(message.id);
    if (!asked) return;
    if ("result" in message) asked.resolve(message.result);
    else if (message.error.code === null) asked.reject(new Error(`the media engine failed: ${message.error.message}`));
    else asked.reject(new ServiceError(message.error.code, message.error.message));
  }

  function died(own: ChildProcess, how: string, words: string): void {
    if (child !== own) return;
    child = null;
    const lost = [...sessions];
    const asked = [...waiting.values()];
    sessions.clear();
    tickets.clear();
    waiting = new Map();
    for (const { reject } of asked) reject(new BusyError("The media engine was restarted. Try again."));
    if (isStopped) return;
    log.error({ how, words, sessions: lost.length }, "the media engine's process died and is started again");
    ready = new Promise<void>((resolve) => setTimeout(resolve, restartMs)).then(async () => {
      if (!isStopped) await start();
    });
    ready.catch(() => {});
    emit({ kind: "lost", sessions: lost });
  }
  ready.catch(() => {});

  async function ask<T>(call: CallName, ...args: unknown[]): Promise<T> {
    await ready;
    const own = child;
    if (!own || isStopped) throw new BusyError("The media engine is not running.");
    const id = nextId++;
    return new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => {
        log.error({ call }, "the media engine does not answer, and is ended");
        own.kill("SIGKILL");
      }, answerMs);
      const settled = () => clearTimeout(timer);
      waiting.set(id, {
        resolve: (value) => {
          settled();
          resolve(value as T);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
      own.send({ id, call, args }, (error) => error && waiting.get(id)?.reject(error));
    });
  }

  function forget(session: string, person?: string): void {
    if (person === undefined) sessions.delete(session);
    for (const [ticket, of] of tickets)
      if (of.session === session && (person === undefined || of.person === person)) tickets.delete(ticket);
  }

  return {
    async open(session: string, recording: RecordingRun | null) {
      if (!isName(session)) throw invalid("session must have 1 to 64 letters, digits and dashes");
      await ask("open", session, recording);
      sessions.add(session);
    },
    async admit(session: string, person: string, allowed: Allowed) {
      if (!isName(person)) throw invalid("person must have 1 to 64 letters, digits and dashes");
      await ask("admit", session, person, allowed);
      forget(session, person);
      const ticket = newCode();
      tickets.set(ticket, { session, person });
      return { ticket, iceServers: iceServersFor(settings, session, clock()) };
    },
    async signal(ticket: string, message: ClientMessage) {
      const of = tickets.get(ticket);
      if (!of) throw new ServiceError("not_found", "The ticket is not one of an open session.");
      return ask<ServerMessage[]>("signal", of.session, of.person, message);
    },
    mute: (session, person, muted) => ask("mute", session, person, muted),
    async remove(session, person) {
      forget(session, person);
      await ask("remove", session, person);
    },
    async close(session) {
      await ask("close", session);
      forget(session);
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async stop() {
      if (isStopped) return;
      const own = child;
      if (own) await Promise.race([ask("stop").catch(() => {}), new Promise((resolve) => setTimeout(resolve, stopMs).unref())]);
      isStopped = true;
      own?.kill("SIGKILL");
    },
  };
}

/** Credentials for the relay, for so long as a session may last (HMAC-SHA1 of `expiry:name`, as coturn's `use-auth-secret`). */
export function iceServersFor({ turn }: MediaSettings, name: string, now: Date): IceServer[] {
  if (!turn) return [];
  const username = `${Math.floor(now.getTime() / 1000) + turnSeconds}:${name}`;
  return [{ urls: turn.urls, username, credential: createHmac("sha1", turn.secret).update(username).digest("base64") }];
}

/** Where the engine keeps what is not in the store yet. */
export const spoolFolder = (dataDir: string): string => join(dataDir, "recordings");
