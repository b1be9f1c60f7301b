import type { FastifyInstance } from "fastify";
import { issueKeyByOperator } from "../../../firms/members/members.ts";
import { mailAdmins, may, type Operator } from "../../../firms/operators/operators.ts";
import { type IssuedKey, listKeys, type StorageUse, setPartner } from "../../../firms/partners/partners.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../../kernel/platform/database/database.ts";
import { nullIfAltered } from "../../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import { findFirms, firmRecord } from "../../../upkeep/console/console.ts";
import { revokeWithCreated } from "../../../upkeep/revocation.ts";
import { done } from "../flash-messages.ts";
import { type ConsoleCall, type ConsoleFrame, consolePage, consoleRoute } from "../frame/console.ts";
import { firmBody, firmsBody } from "./pages.ts";

type FirmsDeps = { db: Database; clock: Clock; rowMac: RowMac };

export type PartnerPagesDeps = { frame: ConsoleFrame; firms: FirmsDeps; storageUse: StorageUse };

type FirmCall = ConsoleCall<{ id: string }>;

const path = "/operator/partners";
const maxShown = 100;

/**
 * Adds the list of firms, and the page of each firm with its tier, live access, keys and webhooks. All changes require
 * a passkey. All admins are mailed about each change, and the firm's owners about a change to a key.
 */
export function partnerPages(scope: FastifyInstance, deps: PartnerPagesDeps): void {
  const { db } = deps.firms;

  consoleRoute(scope, deps.frame, {
    url: path,
    permission: "partners.read",
    handle: async (call) => list(call, await findFirms(db, call.query["name"] ?? "", maxShown + 1)),
    refused: (call, error) => list(call, [], error),
  });

  const list = ({ request, query }: ConsoleCall, found: Awaited<ReturnType<typeof findFirms>>, error?: string) => {
    const body = firmsBody(query["name"] ?? "", found.slice(0, maxShown), found.length > maxShown, error);
    return consolePage(deps.frame, request, { title: "Firms", section: "partners", body });
  };

  consoleRoute(scope, deps.frame, {
    url: `${path}/:id`,
    permission: "partners.read",
    handle: (call) => show(deps, call),
  });
  changeRoutes(scope, deps);
}

function changeRoutes(scope: FastifyInstance, deps: PartnerPagesDeps): void {
  const change = {
    method: "POST",
    permission: "partners.manage",
    refused: (call: FirmCall, error: string) => show(deps, call, { error }),
  } as const;

  consoleRoute(scope, deps.frame, {
    ...change,
    url: `${path}/:id`,
    async handle({ params: { id }, form, operator }) {
      const { firm } = await firmRecord(deps.firms.db, id);
      const ticked = form["live"] !== undefined;
      // A request for live may have been granted after the page was opened. So live access changes only if the operator
      // changed the checkbox.
      const live = form["shown_live"] === (ticked ? "yes" : "no") ? undefined : ticked;
      const liveText = live === undefined ? "" : `, ${live ? "with" : "without"} live`;
      const mailText = `${operator.name} set the firm ${firm.name} to tier ${form["tier"]}${liveText}.`;
      await setPartner(deps.firms, id, { tier: form["tier"] ?? "", live }, by(deps.firms, operator, mailText));
      return done(`${path}/${id}`, "firm-changed");
    },
  });

  consoleRoute(scope, deps.frame, {
    ...change,
    url: `${path}/:id/keys`,
    async handle(call) {
      const { params, form, operator } = call;
      const { firm } = await firmRecord(deps.firms.db, params.id);
      const environment = form["environment"] === "live" ? "live" : "test";
      const mailText = `${operator.name} issued a ${environment} key to the firm ${firm.name}.`;
      return show(deps, call, {
        issued: await issueKeyByOperator(deps.firms, params.id, environment, by(deps.firms, operator, mailText)),
      });
    },
  });

  consoleRoute(scope, deps.frame, {
    ...change,
    url: `${path}/:id/keys/:keyId/revoke` as `${typeof path}/:id/keys/:keyId`,
    async handle({ params: { id, keyId }, operator }) {
      const keys = isUuid(id) ? await listKeys(deps.firms, id) : [];
      if (!keys.some((key) => key.keyId === keyId)) throw new ServiceError("not_found", "No such key.");
      // An altered record of the firm must not keep anybody from revoking a key.
      const record = await firmRecord(deps.firms.db, id).catch(nullIfAltered);
      const mailText = `${operator.name} revoked a key of the firm ${record?.firm.name ?? id}.`;
      await revokeWithCreated(deps.firms, keyId, false, by(deps.firms, operator, mailText));
      return done(`${path}/${id}`, "key-revoked");
    },
  });
}

/** The arguments for a change to a firm: its actor, and a function that mails all admins in the same transaction. */
function by({ clock }: FirmsDeps, operator: Operator, text: string) {
  const at = clock();
  return { actor: operator.actor, also: (tx: Tx) => mailAdmins(tx, { at, text, subject: "A firm has changed" }) };
}

async function show(
  deps: PartnerPagesDeps,
  { params, request, operator }: FirmCall,
  more: { issued?: IssuedKey; error?: string } = {},
): Promise<string> {
  const record = await firmRecord(deps.firms.db, params.id);
  const rights = { mayChange: may(operator, "partners.manage"), mayReadOrders: may(operator, "orders.read") };
  const storage = await deps.storageUse(record.firm);
  const body = firmBody({ ...record, ...rights, ...more, storage });
  return consolePage(deps.frame, request, { title: record.firm.name, section: "partners", body, scripts: ["copy.js"] });
}
