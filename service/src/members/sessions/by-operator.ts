import type { Clock } from "../../platform/clock.ts";
import type { Sql } from "../../platform/database/database.ts";
import { ServiceError } from "../../platform/errors.ts";
import { isUuid, requireUuid } from "../../platform/text.ts";
import * as store from "./store.ts";

type ReadDeps = { db: Sql; clock: Clock };

/** The word that stands for all operators where an address may stand. */
const operatorWord = "operator";

function sessionsOf(whose: string): store.SessionFilter {
  if (whose === operatorWord) return "operator";
  return isUuid(whose) ? { partnerId: whose } : { email: whose.trim().toLowerCase() };
}

/** Sessions of everybody, operators included; or those of an address, of a firm (by its id), or of the word `operator`. */
export const listAnySessions = ({ db, clock }: ReadDeps, whose?: string) =>
  store.selectAnySessions(db, whose === undefined ? "all" : sessionsOf(whose), clock());

/** Ends a session, whoever's. @param actor for the audit log @throws ServiceError when there is none of this id. */
export async function endAnySession({ db, clock }: ReadDeps, sessionId: string, actor?: string): Promise<string[]> {
  const ended = await store.endAnySessions(db, { sessionId: requireUuid("SESSION_ID", sessionId) }, clock(), actor);
  if (ended.length === 0) throw new ServiceError("not_found", "No such session.");
  return ended;
}

/** Ends all sessions of an address, of a firm, or of the word `operator`. @param actor for the audit log @returns their ids */
export const endAllSessions = ({ db, clock }: ReadDeps, whose: string, actor?: string): Promise<string[]> =>
  store.endAnySessions(db, sessionsOf(whose), clock(), actor);
