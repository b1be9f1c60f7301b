import { auditLine } from "../../../kernel/audit/audit.ts";
import { actorOf, type Environment, type Owner, type Principal } from "../../../kernel/identity/identity.ts";
import { hourMs, minuteMs } from "../../../kernel/platform/clock.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newCode, newUuid } from "../../../kernel/platform/ids.ts";
import { isUuid, shownText } from "../../../kernel/platform/text.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { deleteOrigin, type EmbedOrigin, insertEmbed, insertOrigin, listOrigins } from "../records/embeds.ts";
import { signersInTurn } from "../records/envelope.ts";
import { endDevices, insertSitting } from "../records/sittings.ts";
import { changeOpenOnes, changeSigner, lockOpenEnvelopes, type SignerRequest } from "./change-signer.ts";

const maxOrigins = 20;
const ticketMs = 5 * minuteMs;

type OriginDeps = Pick<EnvelopeDeps, "db" | "clock">;

/**
 * Returns the origin in the form that browsers send: scheme, host and port. In the test environment, the origin may
 * also be localhost without TLS.
 * @throws ServiceError naming the rule that the text breaks
 */
function checkedOrigin(text: unknown, environment: Environment): string {
  // URL.parse drops line breaks and supplies missing slashes. A person who reads such a text could see another site
  // than the parser. So only a text that needs no such repair is parsed.
  const written = typeof text === "string" && text.length <= 300 ? text.trim() : "";
  const url = /^https?:\/\/[^\s\\\p{Cc}]+$/iu.test(written) ? URL.parse(written) : null;
  const isLocal = url?.protocol === "http:" && /^(?:localhost|127\.0\.0\.1)$/.test(url.hostname);
  const rule =
    environment === "test"
      ? "an https origin, as https://app.example.com, or http://localhost with a port"
      : "an https origin, as https://app.example.com";
  if (!url || !(url.protocol === "https:" || (isLocal && environment === "test")))
    throw invalid(`origin must be ${rule}.`);
  const hasMore =
    url.pathname !== "/" || url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "";
  if (hasMore) throw invalid(`origin must be ${rule}, without a path: ${shownText(String(text))} has more.`);
  // In a content security policy, a wildcard would allow every subdomain, and a semicolon would start another rule.
  if (/[*;,'"\s]/.test(url.origin)) throw invalid(`origin must be ${rule}, without a wildcard.`);
  return url.origin;
}

/**
 * Refuses a key with scopes. Otherwise the holder of a leaked key that is limited to orders could have signing pages
 * shown on another site.
 */
function requireWholeKey({ key }: Principal): void {
  if (key?.scopes) throw new ServiceError("scope_required", "Only a key without scopes may change embed origins.");
}

/**
 * Registers a site of the firm. A site that is already registered stays unchanged.
 * @throws ServiceError naming the rule that the origin breaks, or the limit; `scope_required` for a key with scopes
 */
export async function addOrigin({ db, clock }: OriginDeps, principal: Principal, text: unknown): Promise<EmbedOrigin> {
  requireWholeKey(principal);
  const origin = checkedOrigin(text, principal.environment);
  return db.transaction(async (tx) => {
    const frameOrigin = { id: newUuid(), origin, createdAt: clock() };
    const { partnerId } = principal;
    if (await insertOrigin(tx, principal, frameOrigin)) {
      const detail = { origin, environment: principal.environment };
      await tx.query(
        auditLine({
          at: frameOrigin.createdAt,
          action: "embed_origin.added",
          actor: actorOf(principal),
          partnerId,
          detail,
        }),
      );
    }
    const origins = await listOrigins(tx, principal);
    if (origins.length > maxOrigins) throw invalid(`A firm has at most ${maxOrigins} origins: remove one first.`);
    const found = origins.find((each) => each.origin === origin);
    if (!found) throw new ServiceError("conflict", "The origin was removed at the same time. Add it again.");
    return found;
  });
}

/**
 * Removes a site. URLs that were issued for the site, and pages that are open on the site, stop working at once.
 * @throws ServiceError `not_found`; `scope_required` for a key with scopes
 */
export async function removeOrigin({ db, clock }: OriginDeps, principal: Principal, id: string): Promise<void> {
  requireWholeKey(principal);
  await db.transaction(async (tx) => {
    const origin = isUuid(id) ? await deleteOrigin(tx, principal, id) : undefined;
    if (origin === undefined) throw new ServiceError("not_found", "No such origin.");
    const { partnerId, environment } = principal;
    const detail = { origin, environment };
    await tx.query(
      auditLine({ at: clock(), action: "embed_origin.removed", actor: actorOf(principal), partnerId, detail }),
    );
  });
}

/**
 * Opens the signing page for a signer on one of the firm's sites. The page's URL contains a ticket that works once,
 * within five minutes.
 * @throws ServiceError for an origin that is not registered, and for a signer whose turn it is not
 */
export async function embedSigner(
  deps: EnvelopeDeps,
  request: SignerRequest,
  sent: unknown,
): Promise<{ ticket: string; expiresAt: Date }> {
  const origin = checkedOrigin(sent, request.owner.environment);
  const ticket = newCode();
  let expiresAt = deps.clock();
  await changeSigner(deps, request, async (tx, { envelope, signer, signers, at }) => {
    const registered = await listOrigins(tx, request.owner);
    if (!registered.some((each) => each.origin === origin))
      throw invalid(`origin must be registered first: ${origin} is not one of your embed origins.`);
    if (signer.issuedAt === null || !signersInTurn(signers).some(({ n }) => n === signer.n))
      throw new ServiceError("conflict", "It is not this person's turn to sign yet.");
    expiresAt = new Date(at.getTime() + ticketMs);
    await insertEmbed(tx, { signerId: signer.id, origin, ticket, expiresAt });
    const { partnerId, orderId } = envelope;
    const detail = { signer: signer.n, origin };
    await tx.query(auditLine({ at, action: "signer.embedded", actor: request.actor, partnerId, orderId, detail }));
  });
  return { ticket, expiresAt };
}

/**
 * The longest time that a sitting (the signing on a handed-over device) stays open. A closing at one table takes hours,
 * not days.
 */
const sittingMs = 4 * hourMs;

/** A request to open or end the sitting of these orders. */
type SittingRequest = { owner: Owner; orderCodes: readonly string[]; actor: string };

/**
 * Opens a sitting: the signers of these orders sign one after another on the device of a member, the host. Orders that
 * do not wait for signatures, or whose time to sign has expired, are skipped. So are orders in which everybody has
 * signed.
 * @param host the member's id, and the member's email address for the evidence
 * @returns the token of the device's pages, and how many orders were skipped
 * @throws ServiceError as `changeOpenOnes`; `conflict` when it is nobody's turn
 */
export async function openSitting(
  deps: Pick<EnvelopeDeps, "db" | "clock">,
  request: SittingRequest & { host: { id: string; address: string } },
): Promise<{ token: string; expiresAt: Date; left: number }> {
  const token = newCode();
  const { actor, host } = request;
  return changeOpenOnes(deps, request, async (tx, signings) => {
    const ready = signings.filter(({ signers }) => signersInTurn(signers).some(({ issuedAt }) => issuedAt !== null));
    const [first] = ready;
    if (!first)
      throw new ServiceError(
        "conflict",
        "The document is still being prepared for its signers. Try again in a minute.",
      );
    const expiresAt = new Date(first.at.getTime() + sittingMs);
    for (const { envelope, at } of ready) {
      await insertSitting(tx, { envelopeId: envelope.id, hostId: host.id, host: host.address, token, expiresAt });
      const { partnerId, orderId, attempt } = envelope;
      const detail = { host: host.address, attempt };
      await tx.query(auditLine({ at, action: "signing_device.opened", actor, partnerId, orderId, detail }));
    }
    return { token, expiresAt, left: request.orderCodes.length - ready.length };
  });
}

/**
 * Ends the sittings of these orders on all devices, for example after a device was lost. Includes orders on hold,
 * because a hold may end while the device still works.
 * @throws as `lockOpenEnvelopes`
 */
export const endSittings = (
  { db, clock }: Pick<EnvelopeDeps, "db" | "clock">,
  { owner, orderCodes, actor }: SittingRequest,
): Promise<void> =>
  db.transaction(async (tx) => {
    const envelopes = await lockOpenEnvelopes(tx, owner, orderCodes);
    const ended = await endDevices(
      tx,
      envelopes.map(({ id }) => id),
    );
    const at = clock();
    for (const { id, partnerId, orderId, attempt } of envelopes) {
      const detail = { devices: ended.filter((each) => each === id).length, attempt };
      await tx.query(auditLine({ at, action: "signing_device.ended", actor, partnerId, orderId, detail }));
    }
  });
