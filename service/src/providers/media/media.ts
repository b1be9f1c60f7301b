/**
 * Live audio and video: who may send, who receives, and what is recorded. The port that sessions use; it knows nothing of orders.
 * Sessions and people have names of the caller's, of letters, digits and dashes.
 */
import type { ChainHead, ChainLine } from "./chain.ts";

/** A recording of a session, from here on. */
export type RecordingRun = {
  /** 32 random bytes for this recording alone. */
  readonly key: Uint8Array;
  /** The chain so far. */
  readonly head: ChainHead;
  /** Greater than the number of every take so far: a number is never used twice under one key. */
  readonly firstTake: number;
  /** The session breaks off before a take of a greater number. */
  readonly lastTake: number;
};

export type Allowed = {
  readonly audio: boolean;
  readonly video: boolean;
  /** Sends the person's own media back, for a check of the line. */
  readonly loop?: boolean;
};

export type IceServer = { readonly urls: readonly string[]; readonly username?: string; readonly credential?: string };
export type Ticket = { readonly ticket: string; readonly iceServers: readonly IceServer[] };

/** `join`: a page was loaded and receives from now on. `publish`: a browser's offer. `subscribe`: its answer to ours. */
export type ClientMessage =
  | { readonly kind: "join" }
  | { readonly kind: "publish"; readonly sdp: string }
  | { readonly kind: "subscribe"; readonly sdp: string };

export type SentTrack = { readonly mid: string; readonly person: string; readonly media: "audio" | "video" };
/** `publish`: the answer to the browser's offer. `subscribe`: our offer, which brings everybody else's tracks. */
export type ServerMessage =
  | { readonly kind: "publish"; readonly sdp: string }
  | { readonly kind: "subscribe"; readonly sdp: string; readonly tracks: readonly SentTrack[] };

/** Why somebody's media ended. */
export type EndCause = "failed" | "removed" | "replaced" | "closed";

/**
 * One second of what came from a person. `silentMs` since the last packet, or since the connection; `unseenMs` since the last packet of
 * a picture, null before the first.
 */
export type Quality = {
  readonly session: string;
  readonly person: string;
  readonly at: number;
  readonly audioPackets: number;
  readonly videoPackets: number;
  readonly lost: number;
  /** Packets above the rate that a person may send at. */
  readonly dropped: number;
  readonly silentMs: number;
  readonly unseenMs: number | null;
  readonly picture: { readonly width: number; readonly height: number } | null;
};

type Of = { readonly session: string; readonly person: string };

export type MediaEvent =
  | (Of & { readonly kind: "message"; readonly message: ServerMessage })
  | (Of & { readonly kind: "joined" })
  | (Of & { readonly kind: "left"; readonly cause: EndCause })
  | (Quality & { readonly kind: "quality" })
  | (Of & { readonly kind: "take"; readonly take: number; readonly at: string; readonly ended: EndCause | null })
  | { readonly kind: "chunk"; readonly session: string; readonly line: ChainLine }
  | { readonly kind: "part"; readonly session: string; readonly file: string }
  /** The recording can't go on, as when the disk is full. The session is closed. */
  | { readonly kind: "broken"; readonly session: string; readonly why: string }
  /** The engine's process died. It starts again by itself, without these sessions. */
  | { readonly kind: "lost"; readonly sessions: readonly string[] };

export type MediaEngine = {
  /**
   * Opens a session. @param recording null where nothing is recorded
   * @throws ServiceError `conflict` for one that is open; `unavailable` above the limits and while the engine starts
   */
  open: (session: string, recording: RecordingRun | null) => Promise<void>;
  /** Lets a person in and ends an earlier ticket of theirs. No media flows before. */
  admit: (session: string, person: string, allowed: Allowed) => Promise<Ticket>;
  /** @throws ServiceError `validation` for a message that is not in its form; `not_found` for a ticket that ended */
  signal: (ticket: string, message: ClientMessage) => Promise<readonly ServerMessage[]>;
  /** Neither forwards nor records these kinds of the person's media. */
  mute: (session: string, person: string, muted: { audio: boolean; video: boolean }) => Promise<void>;
  /** Ends the person's ticket and connections. */
  remove: (session: string, person: string) => Promise<void>;
  /** Resolves when the last chunk is durable. A session that is not open is closed. */
  close: (session: string) => Promise<void>;
  /** @returns the end of listening */
  listen: (listener: (event: MediaEvent) => void) => () => void;
  /** Ends the engine's process; sessions are closed first. */
  stop: () => Promise<void>;
};
