import type { EventChannel } from "../../kernel/events/events.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import { isOrderTopic, isRecordingTopic, isSignerTopic, testTopic } from "./topics.ts";

/** The facts of a proof passport; hashes are lowercase hex SHA-256. */
export type PassportContext = { verifyCode: string; docSha256: string; sealedSha256: string; createdAt: Date };

/** The facts about the recording of a session with a notary, in an event. */
export type RecordingContext = {
  startedAt: Date;
  endedAt: Date | null;
  manifestSha256: string | null;
  cause: string | null;
};

/**
 * An event with the present records from which its body is built. A record is null when the topic doesn't need it, when
 * it is missing, or when its MAC is invalid.
 */
export type EventContext = {
  topic: string;
  eventId: string;
  occurredAt: Date;
  environment: Environment;
  subject: string;
  /**
   * The channel by which a signer reached the signing page; null when it was not recorded, and for events about no
   * signer.
   */
  channel: EventChannel | null;
  webhookId: string;
  order: { status: string; externalReference: string | null } | null;
  passport: PassportContext | null;
  room: { code: string; name: string } | null;
  recording: RecordingContext | null;
};

type Data = Record<string, string | number>;

/**
 * Builds the body of a delivery (contract, Events) from the event and its present records. Null when a record that the
 * topic needs is null.
 */
export function payloadOf(event: EventContext, baseUrl: string): Buffer | null {
  const data = dataOf(event, baseUrl);
  return data && Buffer.from(JSON.stringify({ type: event.topic, id: event.eventId, data }));
}

function dataOf(event: EventContext, baseUrl: string): Data | null {
  const { topic } = event;
  if (topic === testTopic) return testData(event);
  if (isOrderTopic(topic)) return orderData(event);
  if (isRecordingTopic(topic)) return recordingData(event);
  return topic === "passport.sealed" ? passportData(event, baseUrl) : roomData(event);
}

function testData({ webhookId, environment, occurredAt }: EventContext): Data {
  return { webhookId, environment, occurredAtUtc: occurredAt.toISOString() };
}

function orderData({ order, topic, eventId, subject, channel, environment, occurredAt }: EventContext): Data | null {
  if (!order) return null;
  const { status, externalReference } = order;
  return {
    orderCode: subject,
    ...(isSignerTopic(topic) && {
      signer: signerOf(eventId),
      ...(channel !== null && topic !== "signature.requested" && { channel }),
    }),
    status,
    environment,
    occurredAtUtc: occurredAt.toISOString(),
    ...(externalReference === null ? {} : { externalReference }),
  };
}

/** The number of the signer whom an event is about. It is the third part of the event's id. */
const signerOf = (eventId: string): number => Number(eventId.split(":")[2]);

function recordingData({ order, recording, topic, subject, environment, occurredAt }: EventContext): Data | null {
  if (!order || !recording) return null;
  const { startedAt, endedAt, manifestSha256, cause } = recording;
  const { externalReference } = order;
  return {
    orderCode: subject,
    environment,
    occurredAtUtc: occurredAt.toISOString(),
    startedAtUtc: startedAt.toISOString(),
    ...(endedAt && { endedAtUtc: endedAt.toISOString() }),
    ...(manifestSha256 !== null && { recordingSha256: manifestSha256 }),
    ...(cause !== null && (topic === "recording.deleted" ? { reason: cause } : { cause })),
    ...(externalReference === null ? {} : { externalReference }),
  };
}

function passportData({ passport, subject, environment }: EventContext, baseUrl: string): Data | null {
  if (!passport) return null;
  const { verifyCode, docSha256, sealedSha256, createdAt } = passport;
  return {
    passportId: subject,
    verifyCode,
    verifyUrl: `${baseUrl}/api/passport/verify/${verifyCode}`,
    docSha256,
    sealedSha256,
    status: "sealed",
    sealedAtUtc: createdAt.toISOString(),
    environment,
  };
}

function roomData({ room, topic, subject, occurredAt }: EventContext): Data | null {
  if (!room) return null;
  const about = topic === "room.order_attached" ? { orderCode: subject } : { passportVerifyCode: subject };
  return {
    roomCode: room.code,
    roomName: room.name,
    event: topic,
    ...about,
    occurredAtUtc: occurredAt.toISOString(),
  };
}
