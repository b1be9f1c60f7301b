/** The transport of media: connections of this process, or a LiveKit server. Sessions use both in the same way. */
import type { RtpPacket } from "werift";
import type { ServerMessage } from "../media.ts";
import type { SenderReport } from "../webm/take.ts";
import type { Media } from "../webm/webm.ts";

export type PublishInput = {
  readonly session: string;
  readonly person: string;
  /** The browser's offer, without addresses. */
  readonly offer: string;
  readonly onPacket: (media: Media, packet: RtpPacket) => void;
  readonly onReport: (media: Media, report: SenderReport) => void;
  readonly onEnd: () => void;
};

/** The connection on which a participant sends. */
export type Publishing = {
  readonly answer: string;
  /** Accepts a new offer on the same connection, as after a change of network. @returns the answer */
  readonly again: (offer: string) => Promise<string>;
  readonly askForKeyFrame: () => void;
  readonly close: () => Promise<void>;
};

export type ReceiveInput = {
  readonly session: string;
  readonly person: string;
  readonly onOffer: (message: ServerMessage) => void;
  readonly onPictureLost: (person: string) => void;
  readonly onEnd: () => void;
};

/** The connection on which one participant receives the others' media. */
export type Receiving = {
  /** Sets the participants whose tracks may be sent to this participant. */
  readonly show: (people: readonly string[]) => void;
  /**
   * Applies the browser's answer to an offer.
   * @throws ServiceError `validation` for a malformed answer, and when no offer is waiting for it
   */
  readonly answered: (sdp: unknown) => Promise<void>;
  /** Forwards a packet. The caller checks that the packet may be forwarded and, in a recorded session, is recorded. */
  readonly send: (from: string, media: Media, packet: RtpPacket) => void;
  /** Stops forwarding packets of this kind until the next `send`. */
  readonly pause: (from: string, media: Media) => void;
  /** Must be called when a sender has a new connection. */
  readonly continued: (from: string) => void;
  readonly close: () => Promise<void>;
};

export type Transport = {
  /**
   * Opens a session.
   * @param place the name of the session's LiveKit room, which differs for each opening of the session
   */
  readonly open: (session: string, place: string) => void;
  readonly close: (session: string) => Promise<void>;
  readonly publish: (input: PublishInput) => Promise<Publishing>;
  readonly receive: (input: ReceiveInput) => Receiving;
  /**
   * True if this process can drop packets above a participant's rate limit before other participants get them. If
   * false, more than 50 such packets in a second end the participant's connection.
   */
  readonly dropsPackets: boolean;
};
