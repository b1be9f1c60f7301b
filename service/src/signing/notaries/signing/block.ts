import type { Task } from "../../../kernel/platform/workers/task.ts";
import type { PlannedBlock } from "../../envelopes/envelopes.ts";
import { type Act, actWords } from "../acts/act.ts";
import type { Claimed, DeskDeps } from "../desk/desk.ts";
import type { StateRules } from "../eligibility/rules.ts";
import type { PlaceFor } from "../sheets/ipen.ts";
import type { BlockToPlace } from "./place-task.ts";

type Facts = {
  act: Pick<Act, "act" | "mode" | "venue" | "startedAt"> & { principals: readonly { name: string }[] };
  notary: Claimed["notary"];
  rules: StateRules;
};

/**
 * What a notary's block says: the act, who appeared, the sentence that the state requires and the commission. It is no certificate's
 * wording: the rules know none, and nobody here makes one up.
 */
export function blockLines({ act, notary, rules }: Facts): string[] {
  const { commissionName, state, county, commissionNumber, commissionExpires } = notary;
  const { venue, principals, startedAt, mode } = act;
  const sentence = rules.sentences[mode]?.value[0] ?? null;
  const how = mode === "ron" ? "by audio and video" : "in my physical presence";
  const people = principals.map(({ name }) => name).join(", ");
  return [
    `State of ${venue.state}, County of ${venue.county}`,
    `${actWords[act.act]}, ${how}, on ${startedAt.slice(0, 10)}: ${people}`,
    ...(sentence === null ? [] : [sentence]),
    `${commissionName}, Notary Public, State of ${state}, ${county}`,
    `Commission ${commissionNumber}, expires ${commissionExpires}`,
  ];
}

const placing: Task<BlockToPlace, PlannedBlock> = {
  name: "find the place of a notary's block",
  module: import.meta.resolve("./place-task.ts"),
  limitMs: 30_000,
};

/** Reserves the block of an act before its first signature: what it is going to say is known but for the time. */
export const placeBlock =
  ({ workers, clock }: Pick<DeskDeps, "workers" | "clock">): PlaceFor =>
  ({ notary, order, eligibility }, { act, mode }) =>
  ({ bytes }, planned) => {
    const venue = { state: notary.state, county: notary.county };
    const lines = blockLines({
      act: { act, mode, venue, startedAt: clock().toISOString(), principals: order.signers },
      notary,
      rules: eligibility.rules,
    });
    const fields = planned.map(({ page, place }) => ({ page, ...place }));
    return workers.run(placing, { holder: order.partnerId, bytes, input: { lines, planned: fields } });
  };
