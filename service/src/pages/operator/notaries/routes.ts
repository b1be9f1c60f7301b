import type { FastifyInstance, FastifyRequest } from "fastify";
import { may, type Operator } from "../../../firms/operators/operators.ts";
import {
  addNotary,
  addProof,
  addSeal,
  confirmSeal,
  latestSeal,
  listNotaries,
  listProofs,
  openProof,
  operatorsToAdd,
  requireNotary,
  rulesOfStates,
  setNotary,
  type Typed,
  typedCommission,
} from "../../../signing/notaries/notaries.ts";
import { done } from "../flash-messages.ts";
import { consolePage, consoleRoute } from "../frame/console.ts";
import { passkeyFirst } from "../frame/passkey-first.ts";
import { withUpload } from "../frame/uploads.ts";
import { journalAnswer } from "../notary/own-pages.ts";
import type { NotaryDeskDeps } from "../notary/routes.ts";
import type { NotaryUploadDeps } from "../notary/upload-routes.ts";
import { notariesBody, notaryBody, notaryPath } from "./pages.ts";
import type { RuleRouteDeps } from "./rule-routes.ts";

export type NotaryAdminDeps = NotaryDeskDeps & RuleRouteDeps;

const read = ["notaries.manage", "records.read"] as const;

/**
 * Adds the list of notaries, and the page of each notary with the forms that record and change a commission. Also adds
 * the files that prove a commission, and copies of journals for operators who may see records.
 */
export function notaryAdminRoutes(scope: FastifyInstance, deps: NotaryAdminDeps): void {
  const { notaryDesk } = deps;
  const show = shower(deps);

  consoleRoute(scope, deps.frame, {
    url: "/operator/notaries",
    permission: read,
    handle: ({ request, operator }) => show.list(request, operator),
  });
  consoleRoute(scope, deps.frame, {
    url: "/operator/notaries/:id",
    permission: read,
    handle: ({ request, operator, params: { id } }) => show.one(request, operator, id),
  });
  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/notaries",
    permission: "notaries.manage",
    async handle({ operator, form }) {
      return done(
        notaryPath(await addNotary(notaryDesk, form["operatorId"] ?? "", form, operator.actor)),
        "notary-added",
      );
    },
    refused: ({ request, operator, form }, problem) => show.list(request, operator, form, problem),
  });
  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/notaries/:id",
    permission: "notaries.manage",
    async handle({ operator, params: { id }, form }) {
      await setNotary(notaryDesk, id, form, operator.actor);
      return done(notaryPath(id), "notary-saved");
    },
    refused: ({ request, operator, params: { id }, form }, problem) => show.one(request, operator, id, form, problem),
  });
  consoleRoute(scope, deps.frame, {
    url: "/operator/notaries/:id/proofs/:proof",
    permission: read,
    handle: async ({ operator, params: { id, proof } }) => ({
      pdf: await openProof(notaryDesk, id, proof, operator.actor),
      name: "proof.pdf",
    }),
  });
  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/notaries/:id/seal/confirm",
    permission: "notaries.manage",
    async handle({ operator, params: { id }, form }) {
      const confirmed = { seal: form["seal"] ?? "", shown: form["shown"] ?? "" };
      await confirmSeal(notaryDesk, id, confirmed, operator.actor);
      return done(notaryPath(id, "#seal"), "seal-confirmed");
    },
    refused: ({ request, operator, params: { id } }, problem) => show.one(request, operator, id, undefined, problem),
  });
  for (const kind of ["json", "pdf"] as const)
    consoleRoute(scope, deps.frame, {
      url: `/operator/notaries/:id/journal.${kind}`,
      permission: "records.read",
      async handle(call) {
        const { id } = call.params as { id: string };
        return journalAnswer(notaryDesk, await requireNotary(notaryDesk.db, id), call.operator.actor, kind);
      },
    });
}

function shower(deps: NotaryAdminDeps) {
  return {
    async list(request: FastifyRequest, operator: Operator, typed: Typed = {}, problem?: string): Promise<string> {
      const { db, clock } = deps.notaryDesk;
      const [notaries, candidates, states] = await Promise.all([
        listNotaries(db),
        operatorsToAdd(db),
        rulesOfStates(deps.notaryRules),
      ]);
      const view = { notaries, candidates, states, now: clock(), mayChange: may(operator, "notaries.manage") };
      const body = notariesBody(view, typed, problem);
      return consolePage(deps.frame, request, { title: "Notaries", section: "notaries", body });
    },
    async one(
      request: FastifyRequest,
      operator: Operator,
      id: string,
      typed?: Typed,
      problem?: string,
    ): Promise<string> {
      const { db, clock } = deps.notaryDesk;
      const notary = await requireNotary(db, id);
      const mayChange = may(operator, "notaries.manage");
      const view = {
        notary,
        proofs: await listProofs(db, id),
        seal: (await latestSeal(db, id)) ?? null,
        now: clock(),
        mayChange,
        passkeyFirst: passkeyFirst(operator, clock(), notaryPath(id)),
      };
      const body = notaryBody(view, typed ?? typedCommission(notary), problem);
      return consolePage(deps.frame, request, { title: notary.commissionName, section: "notaries", body });
    },
  };
}

/** Adds the routes that upload proofs and pictures of seals. */
export function proofUploadRoutes(scope: FastifyInstance, deps: NotaryUploadDeps & RuleRouteDeps): void {
  const refused = (
    { request, operator, params: { id } }: { request: FastifyRequest; operator: Operator; params: { id: string } },
    problem: string,
  ) => shower(deps).one(request, operator, id, undefined, problem);
  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/notaries/:id/proofs",
    permission: "notaries.manage",
    handle: ({ request, operator, params: { id } }) =>
      withUpload(deps.upload, request, operator, async ({ bytes, fields }) => {
        await addProof(deps.notaryDesk, id, { label: fields.get("label") ?? "", bytes }, operator.actor);
        return done(notaryPath(id, "#proofs"), "proof-added");
      }),
    refused,
  });
  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/notaries/:id/seal",
    permission: "notaries.manage",
    handle: ({ request, operator, params: { id } }) =>
      withUpload(deps.upload, request, operator, async ({ bytes }) => {
        await addSeal({ ...deps.notaryDesk, workers: deps.notarySheets.workers }, id, bytes, operator.actor);
        return done(notaryPath(id, "#seal"), "seal-added");
      }),
    refused,
  });
}
