/**
 * Live audio and video: who may send, who receives, and which media are recorded. This is the interface that sessions
 * use; it doesn't depend on orders. The caller chooses the names of sessions and participants: letters, digits and
 * dashes.
 */
import type { ChainHead, ChainLine } from "./chain.ts";

/** The state from which a session's recording starts or continues. */
export type RecordingRun = {
  /** 32 random bytes, used only for this recording. */
  readonly key: Uint8Array;
  /** The head of the recording's chain so far. */
  readonly head: ChainHead;
  /**
   * The number of the next take (a recording from one connection). It is greater than all earlier numbers, because a
   * number must never be used twice with one key.
   */
  readonly firstTake: number;
  /** The largest take number. The session ends before it would need a greater number. */
  readonly lastTake: number;
};

export type Allowed = {
  readonly audio: boolean;
  readonly video: boolean;
  /** True to send the participant's own media back, as a test of the connection. */
  readonly loop?: boolean;
};

export type IceServer = { readonly urls: readonly string[]; readonly username?: string; readonly credential?: string };
export type Ticket = { readonly ticket: string; readonly iceServers: readonly IceServer[] };

/**
 * `join`: a page has loaded and is ready to receive. `publish`: the browser's offer to send. `subscribe`: the browser's
 * answer to the engine's offer.
 */
export type ClientMessage =
  | { readonly kind: "join" }
  | { readonly kind: "publish"; readonly sdp: string }
  | { readonly kind: "subscribe"; readonly sdp: string };

export type SentTrack = { readonly mid: string; readonly person: string; readonly media: "audio" | "video" };
/**
 * `publish`: the answer to the browser's offer. `subscribe`: the engine's offer. It contains the tracks of the other
 * participants who send and, in a test of the connection (`loop`), the participant's own tracks.
 */
export type ServerMessage =
  | { readonly kind: "publish"; readonly sdp: string }
  | { readonly kind: "subscribe"; readonly sdp: string; readonly tracks: readonly SentTrack[] };

/** The reason for which a participant's media ended. */
export type EndCause = "failed" | "removed" | "replaced" | "closed";

/**
 * The quality of one second of a participant's media. `silentMs`: the time since the last packet or, before the first,
 * since the connection was opened. `unseenMs`: the time since the last video packet; null before the first picture.
 * While the person's video is recorded and not muted, `unseenMs` is the longer of two times instead: the time since the
 * last whole video frame, and the time since the last whole frame of audio that was not muted.
 */
type Quality = {
  readonly session: string;
  readonly person: string;
  readonly at: number;
  readonly audioPackets: number;
  readonly videoPackets: number;
  readonly lost: number;
  /** The number of packets above the participant's rate limit. */
  readonly dropped: number;
  readonly silentMs: number;
  readonly unseenMs: number | null;
  readonly picture: { readonly width: number; readonly height: number } | null;
};

type Of = { readonly session: string; readonly person: string };

export type MediaEvent =
  | (Of & { readonly kind: "message"; readonly message: ServerMessage })
  /**
   * The first unmuted packet of a connection arrived; emitted again for each new connection. For an observer, who may
   * send nothing: the browser began to receive.
   */
  | (Of & { readonly kind: "joined" })
  | (Of & { readonly kind: "left"; readonly cause: EndCause })
  /**
   * One of the participant's connections has failed, or was not established in time. The participant's page must join
   * again.
   */
  | (Of & { readonly kind: "cut" })
  | (Quality & { readonly kind: "quality" })
  | (Of & { readonly kind: "take"; readonly take: number; readonly at: string; readonly ended: EndCause | null })
  /**
   * For some seconds, packets of this kind arrived but formed no whole frame, so this kind is missing in the recording.
   */
  | (Of & { readonly kind: "incomplete"; readonly take: number; readonly media: "audio" | "video" })
  | { readonly kind: "chunk"; readonly session: string; readonly line: ChainLine }
  | { readonly kind: "part"; readonly session: string; readonly file: string }
  /** The recording can't continue, for example because the disk is full, so the session is closed. */
  | { readonly kind: "broken"; readonly session: string; readonly why: string }
  /** The engine's process died and restarts. These sessions are closed. */
  | { readonly kind: "lost"; readonly sessions: readonly string[] };

export type MediaEngine = {
  /**
   * Opens a session. @param recording null to record nothing
   * @throws ServiceError `conflict` for a session that is already open; `unavailable` above the limits, when the engine
   * dies or was stopped, and when LiveKit does not list its rooms
   */
  open: (session: string, recording: RecordingRun | null) => Promise<void>;
  /**
   * Admits a participant, and ends an earlier ticket and the connections of the same participant. Before this call,
   * the participant can neither send nor receive media. If the call is refused, an earlier ticket still works.
   */
  admit: (session: string, person: string, allowed: Allowed) => Promise<Ticket>;
  /**
   * Handles a message from a participant's page.
   * @throws ServiceError `validation` for a malformed message; `not_found` for a ticket that has ended; `conflict` when
   * a later connection replaced this one; `unavailable` above 30 joins or offers a minute, or without a free port
   */
  signal: (ticket: string, message: ClientMessage) => Promise<readonly ServerMessage[]>;
  /** Mutes these kinds of the participant's media: they are neither forwarded nor recorded. */
  mute: (session: string, person: string, muted: { audio: boolean; video: boolean }) => Promise<void>;
  /** Ends the participant's ticket and connections. */
  remove: (session: string, person: string) => Promise<void>;
  /**
   * Closes a session, if it is open. Resolves when its last chunk is durable, or after writing has failed.
   * @param everywhere if the session is not open here, also ends its LiveKit rooms that another node opened, or this
   * node before its restart
   */
  close: (session: string, everywhere?: boolean) => Promise<void>;
  /**
   * Calls the function with each event of the media engine from now on.
   * @returns a function that stops these calls
   */
  listen: (listener: (event: MediaEvent) => void) => () => void;
  /** Closes all sessions, then ends the engine's process, at the latest after 10 s. */
  stop: () => Promise<void>;
};
