import type { FastifyInstance, FastifyRequest } from "fastify";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import {
  type Claimed,
  claimedOrder,
  closeForAct,
  completeSignature,
  completeWithSigned,
  type DeskReport,
  listRemoteKeys,
  liveOf,
  prepareRemote,
  prepareSignature,
  type RemoteSigningDeps,
  reportOnSigned,
  type SignedAct,
  signRemote,
} from "../../../signing/notaries/notaries.ts";
import { done } from "../flash-messages.ts";
import { type ConsoleFrame, consolePage, consoleRoute } from "../frame/console.ts";
import { confirmedIn } from "../frame/upload-report.ts";
import { orderPath } from "./order-path.ts";
import { type NotaryDeskDeps, orderPage } from "./routes.ts";
import { reportBody } from "./upload-forms.ts";

const permission = "notary.work" as const;
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

/**
 * Adds the routes for signing in the browser with the notary's own key: prepare the signature, complete it, and confirm
 * the report.
 */
export function notarySigningRoutes(scope: FastifyInstance, deps: NotaryDeskDeps): void {
  const { frame, notaryDesk, notarySigning } = deps;
  const reportPage = async (request: FastifyRequest, claimed: Claimed, report: DeskReport, problem?: string) => {
    const isLive = deps.live !== null && (await liveOf(deps.live, claimed)) !== null;
    return consolePage(frame, request, {
      title: "What you signed",
      section: "notary",
      body: reportBody(claimed.order.code, report, { on: "signed", isLive, ...(problem !== undefined && { problem }) }),
    });
  };

  consoleRoute(scope, frame, {
    method: "POST",
    url: "/operator/notary/orders/:code/sign/prepare",
    permission,
    handle: ({ operator, params: { code }, form }) =>
      answered(async () => {
        const certificate = Buffer.from(form["certificate"] ?? "", "base64");
        const { tail, signedAttrs, ...rest } = await prepareSignature(notarySigning, operator, code, certificate);
        return { ...rest, tail: base64(tail), signedAttrs: base64(signedAttrs) };
      }),
  });

  consoleRoute(scope, frame, {
    method: "POST",
    url: "/operator/notary/orders/:code/sign/complete",
    permission,
    handle: ({ operator, params: { code }, form }) =>
      answered(async () => {
        await completeSignature(notarySigning, operator, code, Buffer.from(form["signature"] ?? "", "base64"));
        return { next: orderPath(code, "/signed") };
      }),
  });

  remoteRoutes(scope, frame, notarySigning);

  consoleRoute(scope, frame, {
    url: "/operator/notary/orders/:code/signed",
    permission,
    async handle({ request, operator, params: { code } }) {
      const claimed = await claimedOrder(notaryDesk, operator, code);
      return reportPage(request, claimed, await reportOnSigned(notaryDesk, claimed));
    },
    refused: ({ request, operator, params: { code } }, problem) =>
      orderPage(deps, request, operator, code, { problem }),
  });

  consoleRoute(scope, frame, {
    method: "POST",
    url: "/operator/notary/orders/:code/signed",
    permission,
    async handle({ request, operator, params: { code }, form }) {
      const { live } = deps;
      const close = live && { close: (signed: SignedAct) => closeForAct(live, operator, code, signed) };
      const confirmed = { ...confirmedIn(new Map(Object.entries(form))), actSha256: form["actSha256"] ?? "", ...close };
      const again = await completeWithSigned(notaryDesk, operator, code, confirmed);
      if (again) {
        const claimed = await claimedOrder(notaryDesk, operator, code);
        return { page: await reportPage(request, claimed, again.report, again.problem), status: 400 };
      }
      return done("/operator/notary", "act-completed");
    },
    refused: ({ request, operator, params: { code } }, problem) =>
      orderPage(deps, request, operator, code, { problem }),
  });
}

/** Adds signing with a key at the notary's trust service. Tokens and PINs are passed on, and never logged or stored. */
function remoteRoutes(scope: FastifyInstance, frame: ConsoleFrame, signing: RemoteSigningDeps): void {
  consoleRoute(scope, frame, {
    method: "POST",
    url: "/operator/notary/orders/:code/sign/remote/keys",
    permission,
    handle: ({ operator, params: { code }, form }) =>
      answered(() => listRemoteKeys(signing, operator, code, form["token"] ?? "")),
  });
  consoleRoute(scope, frame, {
    method: "POST",
    url: "/operator/notary/orders/:code/sign/remote/prepare",
    permission,
    handle: ({ operator, params: { code }, form }) =>
      answered(async () => {
        const { token = "", key = "" } = form;
        const { tail, signedAttrs, certificate, ...rest } = await prepareRemote(signing, operator, code, {
          token,
          key,
        });
        return { ...rest, tail: base64(tail), signedAttrs: base64(signedAttrs), certificate: base64(certificate) };
      }),
  });
  consoleRoute(scope, frame, {
    method: "POST",
    url: "/operator/notary/orders/:code/sign/remote/sign",
    permission,
    handle: ({ operator, params: { code }, form }) =>
      answered(async () => {
        const { token = "", key = "", hash = "" } = form;
        const answers = new Map(
          Object.entries(form).flatMap(([name, value]) => (name.startsWith("answer:") ? [[name.slice(7), value]] : [])),
        );
        await signRemote(signing, operator, code, { token, key, hash, answers });
        return { next: orderPath(code, "/signed") };
      }),
  });
}

/** The errors that the page shows next to the Sign button. Other errors get the usual error response. */
const shown: ReadonlySet<string> = new Set(["validation", "conflict", "not_found", "unavailable"]);

async function answered(work: () => Promise<object>): Promise<{ json: object }> {
  try {
    return { json: await work() };
  } catch (error) {
    if (error instanceof ServiceError && shown.has(error.code)) return { json: { refused: error.message } };
    throw error;
  }
}
