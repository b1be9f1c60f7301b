import type { Environment } from "../identity/identity.ts";
import { isOrderTopic, testTopic } from "./topics.ts";

/** An event and the present records that it tells of; those of other topics are null. */
export type Told = {
  topic: string;
  eventId: string;
  occurredAt: Date;
  environment: Environment;
  subject: string;
  webhookId: string;
  order: { status: string; externalReference: string | null } | null;
  passport: { verifyCode: string; docSha256: string; sealedSha256: string; createdAt: Date } | null;
  room: { code: string; name: string } | null;
};

type Data = Record<string, string>;

function dataOf(told: Told, baseUrl: string): Data | null {
  const { topic, subject, environment, order, passport, room } = told;
  const occurredAtUtc = told.occurredAt.toISOString();
  if (topic === testTopic) return { webhookId: told.webhookId, environment, occurredAtUtc };
  if (isOrderTopic(topic)) {
    if (!order) return null;
    const { status, externalReference } = order;
    return {
      orderCode: subject,
      status,
      environment,
      occurredAtUtc,
      ...(externalReference === null ? {} : { externalReference }),
    };
  }
  if (topic === "passport.sealed") {
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
  if (!room) return null;
  const about = topic === "room.order_attached" ? { orderCode: subject } : { passportVerifyCode: subject };
  return { roomCode: room.code, roomName: room.name, event: topic, ...about, occurredAtUtc };
}

/** The body of a delivery (contract, Events) from today's records; null when the record that it tells of is gone. */
export function payloadOf(told: Told, baseUrl: string): Buffer | null {
  const data = dataOf(told, baseUrl);
  return data && Buffer.from(JSON.stringify({ type: told.topic, id: told.eventId, data }));
}
