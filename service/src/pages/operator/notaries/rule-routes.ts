import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Operator } from "../../../firms/operators/operators.ts";
import { usStates } from "../../../orders/pricing/pricing.ts";
import {
  confirmChange,
  type RuleChangeDeps,
  refuseChange,
  requestChange,
  rulesOfState,
  type Typed,
  typedRules,
  withdrawChange,
} from "../../../signing/notaries/notaries.ts";
import { done } from "../flash-messages.ts";
import { type ConsoleFrame, consolePage, consoleRoute } from "../frame/console.ts";
import { rulesPath } from "./rules-card.ts";
import { rulesBody } from "./rules-page.ts";

export type RuleRouteDeps = { frame: ConsoleFrame; notaryRules: RuleChangeDeps };

const permission = "notaries.manage" as const;

/**
 * Adds the pages of the U.S. states' rules for notaries: one operator writes a change, and another operator confirms
 * it.
 */
export function notaryRuleRoutes(scope: FastifyInstance, { frame, notaryRules }: RuleRouteDeps): void {
  consoleRoute(scope, frame, {
    url: "/operator/notaries/rules/:state",
    permission: [permission, "records.read"],
    handle: ({ request, operator, params: { state } }) => show(request, operator, state),
  });

  consoleRoute(scope, frame, {
    method: "POST",
    url: "/operator/notaries/rules/:state",
    permission,
    async handle({ operator, params: { state }, form }) {
      await requestChange(notaryRules, operator, state, form);
      return done(rulesPath(state, "#waiting"), "rules-requested");
    },
    refused: ({ request, operator, params: { state }, form }, problem) => show(request, operator, state, form, problem),
  });

  const decisions = [
    ["confirm", confirmChange, "rules-confirmed"],
    ["withdraw", withdrawChange, "rules-withdrawn"],
    ["refuse", refuseChange, "rules-refused"],
  ] as const;
  for (const [verb, decide, message] of decisions)
    consoleRoute(scope, frame, {
      method: "POST",
      url: `/operator/notaries/rules/:state/:id/${verb}`,
      permission,
      async handle({ operator, params, form: { note = "" } }) {
        await decide(notaryRules, operator, params as { state: string; id: string }, note);
        return done(rulesPath((params as { state: string }).state), message);
      },
      refused: ({ request, operator, params, form: { note = "" } }, problem) =>
        show(request, operator, (params as { state: string }).state, { note }, problem),
    });

  async function show(
    request: FastifyRequest,
    operator: Operator,
    state: string,
    typed?: Typed,
    problem?: string,
  ): Promise<string> {
    const found = await rulesOfState(notaryRules, state);
    const today = notaryRules.clock().toISOString().slice(0, 10);
    // Only the form that changes rules contains rules. After another form was rejected, the page starts from the rules
    // in force.
    const isChange = typed !== undefined && "source_url" in typed;
    const values = isChange ? typed : { ...typedRules(found.inForce), read_on: today, effective_on: today, ...typed };
    const { refundApproval, proofMeans } = notaryRules;
    const body = rulesBody({ state, operator, refundApproval, proofMeans, ...found }, values, problem);
    const title = `Rules of ${usStates.get(state)?.name ?? state}`;
    return consolePage(frame, request, { title, section: "notaries", body });
  }
}
