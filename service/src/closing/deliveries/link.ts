import { createHmac, timingSafeEqual } from "node:crypto";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { derivedToken, deriveKey, keysOf, type SecretBytes } from "../../kernel/platform/secrets.ts";
import { isCode, isUuid } from "../../kernel/platform/text.ts";
import type { ZipDeps } from "./contents.ts";
import { type Delivery, selectDelivery } from "./store.ts";

export type DeliveryDeps = ZipDeps & { secrets: SecretBytes };

export const notFound = () => new ServiceError("not_found", "Not found.");

export const macOf = (key: SecretBytes, use: string, text: string): Buffer =>
  createHmac("sha256", deriveKey(key, use)).update(text).digest();

const tokenUnder = (key: SecretBytes, id: string): string => derivedToken(deriveKey(key, "closing-delivery"), id);

export const deliveryPath = (secrets: SecretBytes, id: string): string =>
  `/deliveries/${id}/${tokenUnder(secrets, id)}`;

const isToken = (secrets: SecretBytes, id: string, token: string): boolean =>
  isCode(token) && keysOf(secrets).some((key) => timingSafeEqual(Buffer.from(tokenUnder(key, id)), Buffer.from(token)));

/**
 * The parts of a request to a delivery's link.
 * @property session the session that the browser got for a correct code; null without one
 */
export type Link = { id: string; token: string; session: string | null };

/**
 * Finds the delivery of a link. The recipient need not have entered the link's code.
 * @throws ServiceError `not_found`, with the same message for a wrong link and for one that was ended or has expired
 */
export async function linkedDelivery(deps: DeliveryDeps, { id, token }: Link): Promise<Delivery> {
  const delivery = isUuid(id) && isToken(deps.secrets, id, token) ? await selectDelivery(deps.db, id) : undefined;
  if (!delivery || delivery.revokedAt !== null || delivery.expiresAt <= deps.clock()) throw notFound();
  return delivery;
}

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

export const sessionUnder = (key: SecretBytes, id: string, end: string): string =>
  macOf(key, "delivery-session", `${id} ${end}`).toString("hex");

/** True if the browser's session is for this delivery and has not ended. */
export function isSession({ secrets, clock }: DeliveryDeps, id: string, session: string | null): boolean {
  const [, end = "", mac = ""] = /^(\d{10,16})\.([0-9a-f]{64})$/.exec(session ?? "") ?? [];
  if (end === "" || Number(end) <= clock().getTime()) return false;
  return keysOf(secrets).some((key) => isSame(sessionUnder(key, id, end), mac));
}
