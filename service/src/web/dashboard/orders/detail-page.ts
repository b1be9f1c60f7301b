import type { FastifyInstance } from "fastify";
import { type EnvelopeDeps, orderDocuments, readSigning } from "../../../envelopes/envelopes.ts";
import {
  clientMails,
  type MoveDeps,
  mailsToSendAgain,
  milestones,
  orderHistory,
} from "../../../fulfilment/fulfilment.ts";
import { principalOf } from "../../../http/authentication.ts";
import type { RateLimits } from "../../../http/rate-limits.ts";
import { namesOfFirmActors } from "../../../members/members.ts";
import { isPayable, type NoticesOf, type OrderDeps, type TitleOf } from "../../../orders/orders.ts";
import type { RetentionPlan } from "../../../retention/retention.ts";
import { latestOpenRooms, roomsOfOrder } from "../../../rooms/rooms.ts";
import type { Assets } from "../../ui/assets/assets.ts";
import { done } from "../../ui/flash-messages.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { orderRetention } from "../../ui/retention.ts";
import { dashboardPage } from "../page-shell.ts";
import { attachTitled } from "../rooms/attach.ts";
import { doOnce, submissionFor } from "../submit-once.ts";
import { cancelForm } from "./cancel-form.ts";
import { type OrderDetailView, orderDetailBody } from "./detail.ts";
import { orderDocumentPages } from "./document-pages.ts";
import { type MailFormDeps, mailForm } from "./mails.ts";
import { type NoteFormDeps, noteForm } from "./notes.ts";
import { ownOrder } from "./own-order.ts";
import { roomCodeOf, roomsToChooseFrom } from "./rooms.ts";
import { type SandboxPageDeps, sandboxForms } from "./sandbox-forms.ts";
import { signerForms } from "./signer-forms.ts";
import { orderName } from "./words.ts";

export type OrderDetailDeps = OrderDeps &
  SandboxPageDeps &
  MailFormDeps &
  NoteFormDeps &
  MoveDeps & {
    titleOf: TitleOf;
    noticesOf: NoticesOf;
    limits: RateLimits;
    assets: Assets;
    baseUrl: string;
    retention: RetentionPlan;
    envelopes: EnvelopeDeps;
  };

type OrderCall = PageCall<{ code: string }>;

/** One order: where it stands, the sandbox's buttons for a test order, and the rooms it is in. */
export function orderDetailPage(forms: FastifyInstance, deps: OrderDetailDeps): void {
  const { db } = deps;
  const form = {
    method: "POST",
    policy: "partner-write",
    refused: (call: OrderCall, error: string) => show(call, { error, typed: call.form }),
  } as const;

  pageRoute(forms, deps, { url: "/dashboard/orders/:code", handle: (call) => show(call) });

  sandboxForms(forms, deps, form);
  signerForms(forms, deps, show);
  cancelForm(forms, deps, {
    ownOrder: ({ params, request }) => ownOrder(db, request, params.code),
    refused: (call, error) => show(call, { error }),
  });

  noteForm(forms, deps, form);
  mailForm(forms, deps, form);
  orderDocumentPages(forms, deps);

  pageRoute(forms, deps, {
    ...form,
    url: "/dashboard/orders/:code/attach",
    handle: doOnce(deps, async ({ params, form: typed, request }) => {
      const { code } = await ownOrder(db, request, params.code);
      const order = { orderCode: code, label: typed["label"] };
      const { alreadyAttached } = await attachTitled(deps, principalOf(request), roomCodeOf(typed), order);
      return done(`/dashboard/orders/${code}`, alreadyAttached ? "room-order-there" : "room-order-attached");
    }),
  });

  async function show(
    { params, query, request }: OrderCall,
    problem: Pick<OrderDetailView, "error" | "typed" | "refusedSigner"> = {},
  ): Promise<string> {
    const principal = principalOf(request);
    const order = await ownOrder(db, request, params.code);
    const [{ signers }, documents, rooms, openRooms, history, notes, mails] = await Promise.all([
      readSigning(deps.envelopes, order.code, principal),
      orderDocuments(db, order.code, principal),
      roomsOfOrder(db, order.code, principal),
      latestOpenRooms(db, principal, roomsToChooseFrom),
      orderHistory(db, order.code),
      deps.firmNotes.of(order.code, principal),
      clientMails(db, order.code, principal),
    ]);
    const actors = [...history.history.map(({ actor }) => actor), ...notes.map(({ author }) => author)];
    const view = { order, title: deps.titleOf(order) };
    const { submission } = submissionFor(request, problem.refusedSigner?.typed ?? problem.typed);
    const body = orderDetailBody({
      ...view,
      submission,
      history,
      notes,
      mails,
      sendable: mailsToSendAgain(deps.takesPayment, order),
      names: await namesOfFirmActors(db, principal.partnerId, actors),
      clientUrl: `${deps.baseUrl}/orders/${order.code}`,
      payable: deps.checkoutUrlOf !== null && isPayable(order.status) && order.documentsDeletedAt === null,
      retention: orderRetention(deps.retention, order),
      signers,
      notices: deps.noticesOf(order),
      textCodes: deps.textCodes,
      documents,
      rooms,
      openRooms,
      fired: firedIn(query["fired"]),
      ...problem,
    });
    const title = orderName(view);
    return dashboardPage(deps, request, { title, section: "orders", body, scripts: ["copy.js"] });
  }
}

/** The topics that the address says were fired; null when it says nothing of them, or names unknown ones. */
function firedIn(fired: string | undefined): OrderDetailView["fired"] {
  if (fired === undefined) return null;
  const named = fired.split(",").filter((name) => name !== "");
  const known = milestones.filter((name) => named.includes(name));
  return known.length === named.length ? known : null;
}
