import type { FastifyInstance } from "fastify";
import type { ShownFirm } from "../../firms/partners/partners.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { nullIf, ServiceError } from "../../kernel/platform/errors.ts";
import { wholeNumberIn } from "../../kernel/platform/text.ts";
import {
  type Fill,
  type FillDeps,
  faultsOf,
  finishedDocument,
  finishFill,
  forgetAnswers,
  isOpen,
  openFill,
  previewOf,
  type Question,
  saveStep,
  stepsOf,
  UnshownAnswers,
} from "../../orders/fills/fills.ts";
import { zoneOrDefault } from "../../orders/payments/payments.ts";
import { logoOf } from "../ui/accent.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { acceptForms, type FormValues } from "../ui/forms/form-body.ts";
import { refreshingPolicy } from "../ui/page/policy.ts";
import type { PageAnswer } from "../ui/page/route.ts";
import { linkFor, type Reader } from "../ui/words/reader.ts";
import { clientRoute } from "./client-route.ts";
import { type FillPageView, fillEndPage, fillReviewPage, fillStepPage, inputName } from "./fill-page.ts";

export type FillRoutesDeps = {
  limits: RateLimits;
  assets: Assets;
  fills: FillDeps;
  firmOf: (partnerId: string) => Promise<ShownFirm>;
};

const base = "/fill/:id/:token";
/** The limit is enough for a form with 500 long answers, as browsers encode it. */
const maxBytes = 1024 * 1024;

/** Adds the pages of a form that a client fills in online. The form's URL is the only credential. */
export function fillPages(app: FastifyInstance, deps: FillRoutesDeps): void {
  readPages(app, deps);
  app.register(async (forms) => {
    acceptForms(forms, maxBytes);
    saveRoutes(forms, deps);
    endRoutes(forms, deps);
  });
}

function readPages(app: FastifyInstance, deps: FillRoutesDeps): void {
  const { assets, fills } = deps;
  const shown = (
    url: `${typeof base}/:step`,
    show: (view: View, reader: Reader, step: string) => Promise<PageAnswer>,
  ) =>
    clientRoute(app, deps, url, async ({ params }, reader) => {
      const view = await viewOf(deps, params);
      return isOpen(view.fill, fills.templates.clock()) ? show(view, reader, params.step) : end(deps, view, reader);
    });
  shown(base as `${typeof base}/:step`, async (view, reader) => answer(view, fillStepPage(assets, view, 1, reader)));
  shown(`${base}/review` as `${typeof base}/:step`, async (view, reader) => {
    const faults = await faultsOf(fills, view.fill, view.fill.answers);
    return answer(view, fillReviewPage(assets, { ...view, faults }, reader));
  });
  shown(`${base}/:step`, async (view, reader, step) =>
    answer(view, fillStepPage(assets, view, stepIn(view.fill, step), reader)),
  );
  clientRoute(app, deps, `${base}/preview`, async ({ params }) => {
    const { fill } = await viewOf(deps, params);
    const pdf = await previewOf(fills, fill).catch((error: unknown) => {
      if (error instanceof UnshownAnswers) throw new ServiceError("not_found", "An answer does not fit.");
      throw error;
    });
    return { pdf, name: `${fill.title}.pdf` };
  });
  clientRoute(app, deps, `${base}/document`, async ({ params }) => {
    const { fill } = await viewOf(deps, params);
    return { pdf: await finishedDocument(fills, fill), name: `${fill.title}.pdf` };
  });
}

function saveRoutes(forms: FastifyInstance, deps: FillRoutesDeps): void {
  const { assets, fills } = deps;
  post(forms, deps, `${base}/:step/save`, async ({ fill, step, form }) => {
    const result = await saveStep(fills, fill, { ...sentStep(step, form), isTyping: true });
    return {
      json: result === "stale" ? { stale: true } : { revision: result.revision, refused: result.faults.length },
    };
  });
  post(forms, deps, `${base}/:step`, async ({ view, fill, step, form, reader, path }) => {
    const sent = textsIn(form);
    const result = await saveStep(fills, fill, { ...sentStep(step, form), isTyping: false });
    if (result !== "stale" && result.faults.length === 0) {
      const next = step === stepsOf(fill).length ? "review" : String(step + 1);
      return { redirect: linkFor(reader, `${path}/${next}`) };
    }
    const isStale = result === "stale";
    const now = await viewOf(deps, view.params);
    const again = { ...now, isStale, faults: isStale ? [] : result.faults, typed: sent };
    return { ...answer(view, fillStepPage(assets, again, step, reader)), status: isStale ? 409 : 400 };
  });
}

function endRoutes(forms: FastifyInstance, deps: FillRoutesDeps): void {
  const { assets, fills } = deps;
  post(forms, deps, `${base}/finish`, async ({ view, fill, form, reader, path }) => {
    const faults = await finishFill(fills, fill, revisionIn(form));
    if (faults !== "stale" && faults.length === 0) return { redirect: linkFor(reader, path) };
    const now = await viewOf(deps, view.params);
    // After a double click, the second request finds the form completed.
    if (now.fill.state === "completed") return { redirect: linkFor(reader, path) };
    const isStale = faults === "stale";
    const again = { ...now, isStale, faults: isStale ? [] : faults };
    return { ...answer(view, fillReviewPage(assets, again, reader)), status: isStale ? 409 : 400 };
  });
  post(forms, deps, `${base}/forget`, async ({ fill, reader, path }) => {
    await forgetAnswers(fills, fill);
    return { redirect: linkFor(reader, path) };
  });
}

type Post = {
  view: View;
  fill: Fill;
  /** The step in the URL; 1 when the URL names none. */
  step: number;
  form: FormValues;
  reader: Reader;
  path: string;
};

/**
 * Adds a POST route of the form. A form that has ended accepts no more answers, so the route then shows the form's last
 * page.
 */
function post(
  forms: FastifyInstance,
  deps: FillRoutesDeps,
  url: `${typeof base}/${string}`,
  work: (call: Post) => Promise<PageAnswer>,
): void {
  clientRoute(
    forms,
    deps,
    url as `${typeof base}/:step`,
    async ({ params, form }, reader) => {
      const view = await viewOf(deps, params);
      const { fill, path } = view;
      const step = params.step === undefined ? 1 : stepIn(fill, params.step);
      if (!isOpen(fill, deps.fills.templates.clock())) return { redirect: linkFor(reader, path) };
      return work({ view, fill, step, form, reader, path });
    },
    "POST",
  );
}

type Params = { id: string; token: string };
type View = FillPageView & { params: Params };

async function viewOf(deps: FillRoutesDeps, { id, token }: Params): Promise<View> {
  const fill = await openFill(deps.fills, id, token);
  const { partnerId } = fill.owner;
  const firm = await deps.firmOf(partnerId);
  const zone = await zoneOrDefault(deps.fills.templates.db, partnerId);
  return { fill, firm, zone, path: `/fill/${id}/${token}`, faults: [], isStale: false, params: { id, token } };
}

async function end({ assets, fills }: FillRoutesDeps, view: View, reader: Reader): Promise<PageAnswer> {
  const document = await finishedDocument(fills, view.fill).catch(nullIf("not_found"));
  return answer(view, fillEndPage(assets, view, document !== null, reader));
}

/** Responds with a page whose content security policy permits the firm's logo. */
function answer({ firm }: FillPageView, page: string): { page: string; headers: Record<string, string> } {
  const logo = logoOf(firm.branding);
  return { page, headers: { "Content-Security-Policy": refreshingPolicy(logo ? [logo.origin] : []) } };
}

function stepIn(fill: Fill, text: string): number {
  const step = wholeNumberIn(text, 1, stepsOf(fill).length);
  if (step === undefined) throw new ServiceError("not_found", "Fill not found.");
  return step;
}

const revisionIn = ({ revision }: FormValues): number => wholeNumberIn(revision, 0, 999_999_999) ?? -1;

const sentStep = (step: number, form: FormValues) => ({ step, revision: revisionIn(form), sent: textsIn(form) });

const textsIn =
  (form: FormValues) =>
  (index: number, { kind, options }: Question): string[] =>
    kind === "list"
      ? options.flatMap(({ value }, at) => (form[inputName(index, at)] === undefined ? [] : [value]))
      : [form[inputName(index)] ?? ""];
