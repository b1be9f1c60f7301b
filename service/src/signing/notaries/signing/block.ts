import type { Sql } from "../../../kernel/platform/database/database.ts";
import type { Task, Workers } from "../../../kernel/platform/workers/task.ts";
import { usStates } from "../../../orders/pricing/pricing.ts";
import type { PlannedBlock } from "../../envelopes/envelopes.ts";
import { type Act, actWords } from "../acts/act.ts";
import type { Claimed, DeskDeps } from "../claims/claims.ts";
import { sealFor } from "../commissions/seals.ts";
import { certificateOf, dateIn, listed, type Named, wordsFor } from "../eligibility/certificates.ts";
import type { StateRules } from "../eligibility/rules.ts";
import type { PlaceFor } from "../presence/ipen.ts";
import { findHours } from "../schedule/hours-store.ts";
import type { BlockToPlace } from "./place-task.ts";

type Facts = {
  act: Pick<Act, "act" | "mode" | "venue" | "startedAt"> & { principals: readonly Named[] };
  notary: Claimed["notary"];
  rules: StateRules;
  /** The time zone for the date of the act; null before the act, and when the notary has set no appointment hours. */
  zone: string | null;
};

/**
 * The lines of a notary's block: the state's wording of the act's certificate, the required sentence, and the
 * commission. If the state's wording is missing, the block states only the facts, because the service never invents a
 * wording.
 */
export function blockLines({ act, notary, rules, zone }: Facts): string[] {
  const { commissionName, state, county, commissionNumber, commissionExpires } = notary;
  const { venue, principals, startedAt, mode } = act;
  const sentence = rules.sentences[mode]?.value[0] ?? null;
  const words = wordsFor(rules.certificates, act.act, mode);
  const how = mode === "ron" ? "by audio and video" : "in my physical presence";
  const about = { startedAt, principals, zone };
  const names = listed(principals.map(({ name }) => name));
  const certificate =
    words === null
      ? [`${actWords[act.act]}, ${how}, on ${dateIn(zone, new Date(startedAt))}: ${names}`]
      : [certificateOf(words, about), ...(sentence === null ? [`Done ${how}.`] : [])];
  return [
    `State of ${usStates.get(venue.state)?.name ?? venue.state}, County of ${venue.county}`,
    ...certificate,
    ...(sentence === null ? [] : [sentence]),
    `${commissionName}, Notary Public, State of ${state}, ${county}`,
    `Commission ${commissionNumber}, expires ${commissionExpires}`,
  ];
}

/**
 * The lines of a notary's signature block for an act that was noted.
 * @throws ServiceError `unavailable` when the row of the notary's appointment hours, which names the time zone, was
 * altered
 */
export async function linesOf(db: Sql, { notary, eligibility: { rules } }: Claimed, act: Act): Promise<string[]> {
  return blockLines({ act, notary, rules, zone: (await findHours(db, notary.id))?.zone ?? null });
}

const placing: Task<BlockToPlace, PlannedBlock> = {
  name: "find the place of a notary's block",
  module: import.meta.resolve("./place-task.ts"),
  limitMs: 30_000,
};

/**
 * Plans the place of the notary's block before the first signature. The time of the act and the identification of the
 * signers are still unknown then.
 */
export const placeBlock =
  ({ db, workers, clock }: Pick<DeskDeps, "db" | "clock"> & { workers: Workers }): PlaceFor =>
  ({ notary, order, eligibility }, { act, mode }) =>
  async ({ bytes }, planned) => {
    const venue = { state: notary.state, county: notary.county };
    const lines = blockLines({
      act: { act, mode, venue, startedAt: clock().toISOString(), principals: order.signers },
      notary,
      rules: eligibility.rules,
      zone: null,
    });
    const fields = planned.map(({ page, place }) => ({ page, ...place }));
    const hasSeal = (await sealFor(db, notary)) !== null;
    return workers.run(placing, { holder: order.partnerId, bytes, input: { lines, planned: fields, hasSeal } });
  };
