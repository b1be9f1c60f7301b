/** A participant's signalling with a LiveKit server: its messages over a WebSocket. */
import { SignalRequest, SignalResponse } from "@livekit/protocol";
import { BusyError } from "../../../kernel/platform/errors.ts";
import { accessToken, type LivekitKey, type Role } from "./token.ts";

type Answer = Exclude<SignalResponse["message"], { case: undefined }>;
type Question = Exclude<NonNullable<ConstructorParameters<typeof SignalRequest>[0]>["message"], undefined>;
type AnswerCase = Answer["case"];
type AnswerOf<Case extends AnswerCase> = Extract<Answer, { case: Case }>["value"];

export type Signal = {
  readonly send: (message: Question) => void;
  /** Resolves with the next message of this kind that meets the condition. */
  readonly next: <Case extends AnswerCase>(
    kind: Case,
    fits?: (value: AnswerOf<Case>) => boolean,
  ) => Promise<AnswerOf<Case>>;
  readonly hear: <Case extends AnswerCase>(kind: Case, listener: (value: AnswerOf<Case>) => void) => void;
  readonly close: () => void;
};

type SignalInput = {
  readonly livekit: LivekitKey;
  readonly room: string;
  readonly identity: string;
  readonly role: Exclude<Role, "admin">;
  readonly now: () => number;
  /** Called once, when the server ends the connection or it breaks. */
  readonly onEnd: () => void;
};

/**
 * In this version of the protocol, the server sends media over a separate connection, for which the server makes the
 * offer.
 */
const protocolVersion = 15;
const answerMs = 10_000;
const pingMs = 5_000;
const maxEarly = 50;

/**
 * Parses a message from the server.
 * @returns null for a message that LiveKit's protocol does not have
 */
function read(data: unknown): SignalResponse["message"] | null {
  if (!(data instanceof ArrayBuffer)) return null;
  try {
    return SignalResponse.fromBinary(new Uint8Array(data)).message;
  } catch {
    return null;
  }
}

const addressOf = ({ livekit, room, identity, role, now }: SignalInput): string => {
  const url = new URL(`${livekit.url}/rtc`);
  url.protocol = url.protocol.replace("http", "ws");
  const token = accessToken(livekit, { room, identity, role, at: now() });
  url.search = new URLSearchParams({
    access_token: token,
    protocol: String(protocolVersion),
    auto_subscribe: "0",
    sdk: "go",
    adaptive_stream: "0",
  }).toString();
  return url.href;
};

/**
 * Connects to LiveKit's signalling as a participant, and resolves when the server has accepted the participant.
 * @throws BusyError when the server can't be reached, or doesn't accept the participant
 */
export async function openSignal(input: SignalInput): Promise<Signal> {
  const socket = new WebSocket(addressOf(input));
  socket.binaryType = "arraybuffer";
  const listeners = new Set<(answer: Answer) => void>();
  const failures = new Set<(error: Error) => void>();
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    clearInterval(timer);
    for (const fail of failures) fail(new BusyError("The media server ended the connection. Try again."));
    socket.close();
  };
  const send = (message: Question) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(Buffer.from(new SignalRequest({ message }).toBinary()));
  };
  const timer = setInterval(() => send({ case: "ping", value: BigInt(input.now()) }), pingMs);
  const next: Signal["next"] = (kind, fits = () => true) =>
    new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(late);
        listeners.delete(listener);
        failures.delete(fail);
      };
      const fail = (error: Error) => {
        settle();
        reject(error);
      };
      const listener = (answer: Answer) => {
        if (answer.case !== kind || !fits(answer.value as never)) return;
        settle();
        resolve(answer.value as never);
      };
      const late = setTimeout(() => fail(new BusyError("The media server does not answer. Try again.")), answerMs);
      listeners.add(listener);
      failures.add(fail);
    });
  // The first offer may arrive with the response to the join, before a caller waits for it.
  const early: Answer[] = [];
  const heard = new Set<AnswerCase>();
  socket.addEventListener("message", ({ data }) => {
    const message = read(data);
    if (message === null) return ended();
    if (message.case === undefined) return;
    for (const listener of [...listeners]) listener(message);
    if (!heard.has(message.case) && early.length < maxEarly) early.push(message);
  });
  const ended = () => {
    const wasOver = isOver;
    end();
    if (!wasOver) input.onEnd();
  };
  socket.addEventListener("close", ended);
  socket.addEventListener("error", ended);
  await next("join").catch((error) => {
    end();
    throw error;
  });
  return {
    send,
    next,
    hear(kind, listener) {
      const hear = (answer: Answer) => {
        if (answer.case === kind) listener(answer.value as never);
      };
      heard.add(kind);
      listeners.add(hear);
      for (const answer of early) hear(answer);
    },
    close() {
      send({ case: "leave", value: {} });
      end();
    },
  };
}
