import type { FastifyInstance } from "fastify";
import {
  type CertificateOffer,
  type DeliveryDeps,
  endReceiver,
  type NoCertificate,
  revokeDelivery,
  roomZip,
  sendDelivery,
} from "../../../closing/deliveries/deliveries.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { card, notice } from "../../ui/components.ts";
import { plainTime, shortCode } from "../../ui/format.ts";
import { buttonForm, hiddenFields } from "../../ui/forms/button-form.ts";
import { checkbox, field } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { statusWords } from "../../ui/orders/status-words.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { type Html, html } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";
import type { DashboardFrame } from "../page-shell.ts";
import { doOnce } from "../submit-once.ts";
import type { FormIn, RoomDetailView } from "./view.ts";

/**
 * Adds the zip file of a room's documents. Adds the forms that mail a link to the documents, end such a link, and
 * cancel the delivery of documents that are not finished yet.
 */
export function deliveryForms(
  forms: FastifyInstance,
  deps: { frame: DashboardFrame; deliveries: DeliveryDeps },
  formIn: FormIn,
): void {
  const { frame, deliveries } = deps;
  const path = "/dashboard/rooms/:code";
  pageRoute(forms, frame, {
    url: `${path}/zip`,
    handle: async ({ params: { code }, request }) => {
      const { name, file } = await roomZip(deliveries, principalOf(request), code);
      return { pdf: file, name, type: "application/zip" };
    },
  });
  pageRoute(forms, frame, {
    ...formIn("delivery"),
    url: `${path}/deliveries`,
    handle: doOnce(deliveries, async ({ params: { code }, form: typed, request }) => {
      const { name = "", email = "", days = "" } = typed;
      const boxes = { asksCode: typed["code"] === "on", certificateVersion: typed["certificate"] ?? null };
      const delivery = { name, email, days, orderCodes: chosenIn(typed), ...boxes };
      await sendDelivery(deliveries, principalOf(request), code, delivery);
      return done(`/dashboard/rooms/${code}`, "delivery-sent");
    }),
  });
  pageRoute(forms, frame, {
    ...formIn("delivery"),
    url: `${path}/receivers/end`,
    handle: async ({ params: { code: roomCode }, form: { email = "" }, request }) => {
      await endReceiver(deliveries, principalOf(request), { roomCode, email });
      return done(`/dashboard/rooms/${roomCode}`, "receiver-ended");
    },
  });
  pageRoute(forms, frame, {
    ...formIn("delivery"),
    url: `${path}/deliveries/:id/revoke`,
    handle: async ({ params: { code, id }, request }) => {
      await revokeDelivery(deliveries, principalOf(request), code, id);
      return done(`/dashboard/rooms/${code}`, "delivery-revoked");
    },
  });
}

const chosenIn = (form: FormValues): string[] =>
  Object.keys(form).flatMap((name) => /^send-([0-9a-f]{40})$/.exec(name)?.[1] ?? []);

type DeliveryView = {
  /** The room. While it is closed, the service does not send its finished documents automatically. */
  room: Pick<RoomDetailView["room"], "roomCode" | "status" | "orders" | "participants" | "altered">;
  submission: string;
  deliveries: NonNullable<RoomDetailView["deliveries"]>;
  problem: Html;
  /** Values of the rejected form; null on a newly opened page. */
  typed: FormValues | null;
};

/** All finished documents, to download or to send, and the earlier deliveries. */
export function deliveryCard(view: DeliveryView): Html {
  const { deliveries, problem } = view;
  const { roomCode } = view.room;
  const { orders, sendable: finished, sent, waiting: receivers } = deliveries;
  const waiting = orders.length - finished.length;
  const rest = waiting > 0 && html` ${waiting === 1 ? "1 document is" : `${waiting} documents are`} not finished yet.`;
  const body =
    finished.length === 0
      ? html`${problem}<p>Nothing is finished yet. What is can be downloaded and sent from here: final documents, certificates and receipts in one zip, with a page that checks them without a network.</p>`
      : html`${problem}
<p>${finished.length === 1 ? "1 document is" : `${finished.length} documents are`} finished.${rest}</p>
<div class="form-actions"><a class="button quiet-button" href="/dashboard/rooms/${roomCode}/zip" download>Download everything (zip)</a></div>
<p class="quiet-text">The proofs of the transparency log are in it too. Those of a new document follow within a minute, and those by OpenTimestamps after the log’s next hourly root: the zip’s README names what it does not have yet.</p>
${sendForm(view)}`;
  return card(
    "delivery",
    "Deliver",
    html`${body}${receivers.length > 0 && waitingPart(view)}${sent.length > 0 && sentPart(view)}`,
  );
}

function sendForm({ room, submission, typed, deliveries }: DeliveryView): Html {
  const people = recipientsIn(room);
  const [only = null, ...more] = people.filter(({ role }) => /^recipient$|lender/i.test(role));
  // The form is filled in with the only recipient. With several recipients, the sender chooses one by email address.
  const filled = typed ?? (only && more.length === 0 ? { name: only.name, email: only.email } : {});
  return html`<form class="form room-part" method="post" action="/dashboard/rooms/${room.roomCode}/deliveries">
<h3>Send to the lender</h3>
${hiddenFields({ submission })}${field({ form: "delivery", name: "name", label: "Name of the recipient", value: filled["name"], required: true, maxLength: 200, autocomplete: "off" })}
${field({
  form: "delivery",
  name: "email",
  label: "Email",
  type: "email",
  value: filled["email"],
  suggestions: people.map(({ name, email }) => ({ value: email, label: name })),
  required: true,
  maxLength: 320,
  autocomplete: "off",
  hint: "The link goes to this address. It needs no account, and each download is listed below.",
})}
${field({ form: "delivery", name: "days", label: "Days until the link ends", value: typed?.["days"] ?? "14", required: true, maxLength: 2, autocomplete: "off", hint: "1 to 90." })}
${checkbox({ form: "delivery", name: "code", label: "Ask for a code", checked: typed === null || typed["code"] !== undefined, hint: "The page mails six digits to this address before it shows anything. Five wrong ones lock the link." })}
<fieldset><legend>Documents</legend>${deliveries.sendable.map(({ code, title }, index) =>
    checkbox({
      form: "delivery",
      name: `send-${code}`,
      label: `${index + 1}. ${titleOf({ code, title })}`,
      checked: typed === null || typed[`send-${code}`] !== undefined,
    }),
  )}</fieldset>
${typeof deliveries.certificate === "object" && certificateBox(deliveries.certificate, typed)}
<p class="quiet-text">A custody certificate names the signers with their addresses and the order’s code, which opens the order’s page. Send documents only to people whom the closing concerns: they keep these after the link has ended.</p>
${missingPart({ room, deliveries, typed })}
<div class="form-actions"><button type="submit">Send the documents</button></div>
</form>`;
}

/** The people of the room who are neither its client nor signers. */
const recipientsIn = ({ participants }: DeliveryView["room"]) =>
  participants.filter(({ role }) => role !== "client" && role !== "signer");

const titleOf = ({ code, title }: { code: string; title: string | null }): string =>
  title ?? `Order ${shortCode(code)}`;

/**
 * Lists what the delivery would lack if it were sent now, such as unfinished documents or the closing's certificate.
 * The form can be sent nevertheless.
 */
function missingPart({ room, deliveries, typed }: Pick<DeliveryView, "room" | "deliveries" | "typed">) {
  const { orders, sendable, certificate } = deliveries;
  const own = new Set(orders.map(({ code }) => code));
  const ofOthers = room.orders.flatMap(({ orderCode: code, label }) =>
    own.has(code)
      ? []
      : [html`${titleOf({ code, title: label })}: another firm placed it, so it can’t be sent from here.`],
  );
  const unticked = sendable.flatMap((order) =>
    typed === null || typed[`send-${order.code}`] !== undefined
      ? []
      : [html`${titleOf(order)}: its box is not ticked.`],
  );
  const simulated = new Set(room.orders.flatMap((card) => (card.simulated ? [card.orderCode] : [])));
  const ofOrders = orders.flatMap((order) => {
    const state = statusWords(order.status).label;
    return [
      order.final === null ? `the document is not finished (${state}).` : [],
      order.final?.deletedAt ? "the document was deleted." : [],
      order.final !== null && order.status !== "Completed" ? `the order is not completed (${state}).` : [],
      simulated.has(order.code) ? "the sandbox simulated the signatures." : [],
    ]
      .flat()
      .map((text) => html`${titleOf(order)}: ${text}`);
  });
  const altered = room.altered.map(
    ({ code, label }) =>
      html`${titleOf({ code, title: label })}: its record was altered outside the service, so it can’t be sent.`,
  );
  const lines = [...ofOrders, ...altered, ...unticked, ...ofOthers, certificateLine(certificate)].flat();
  if (lines.length === 0)
    return html`<p>Nothing is missing while every box above is ticked: every document is completed, and the closing certificate lists it.</p>`;
  return notice(
    "attention",
    "Missing now",
    "You can send the documents anyway.",
    html`<ul>${lines.map((line) => html`<li class="breakable">${line}</li>`)}</ul>`,
  );
}

const noCertificateWords: Readonly<Record<NoCertificate, string>> = {
  not_sealed: "The closing certificate is not sealed yet.",
  deleted: "The newest closing certificate was deleted. Seal a new version to send it.",
  altered:
    "The newest closing certificate is not as it was sealed, and can’t be sent. Ask the operator of this service.",
};

function certificateLine(certificate: CertificateOffer | NoCertificate): string[] {
  if (typeof certificate === "string") return [noCertificateWords[certificate]];
  if (certificate.isCurrent) return [];
  return [
    `Version ${certificate.version} of the closing certificate does not list every finished document as it is now.`,
  ];
}

/**
 * The checkbox that adds the closing's certificate to the delivery. It is ticked at first if the certificate lists
 * exactly the documents in the form.
 */
function certificateBox({ version, isCurrent, others }: CertificateOffer, typed: FormValues | null): Html {
  const use = isCurrent
    ? "The recipient can check each document as a part of this closing."
    : "It does not list every finished document as it is now: seal a new version first.";
  const more =
    others === 0
      ? "also of those that you untick here"
      : `also of those that you untick here, and of ${others} more: not finished, taken out of the room, or placed by another firm`;
  return checkbox({
    form: "delivery",
    name: "certificate",
    value: String(version),
    label: `With the closing certificate, version ${version}`,
    checked: typed === null ? isCurrent && others === 0 : typed["certificate"] === String(version),
    hint: `${use} Its codes open the pages of the closing and of all its orders, ${more}.`,
  });
}

/**
 * Lists the people who will get documents that are not finished yet. They were chosen when the closing was placed, and
 * the service sends the documents later.
 */
function waitingPart({ room: { roomCode, status }, deliveries: { waiting } }: DeliveryView): Html {
  const people = Map.groupBy(waiting, ({ email }) => email);
  return html`<div class="room-part"><h3>Will be sent</h3>${[...people].map(
    ([email, own]) =>
      html`<p><strong class="breakable">${own[0]?.name}, ${email}</strong>: ${own.length === 1 ? "1 document" : `${own.length} documents`}, ${status === "closed" ? "after you reopen the room" : "within minutes after each is done"}.</p>
${buttonForm(`/dashboard/rooms/${roomCode}/receivers/end`, "Do not send", { fields: { email }, kind: "quiet-button", about: `to ${own[0]?.name}` })}`,
  )}</div>`;
}

const useWords = {
  download: "Download begun",
  code_entered: "Code entered",
  locked: "Locked after five wrong codes",
} as const;

type Use = DeliveryView["deliveries"]["sent"][number]["uses"][number];

function useLine({ kind, at, file, network }: Use): Html {
  const target = kind === "download" && html`: <span class="breakable">${file ?? "everything"}</span>`;
  const from = network !== null && `, from the network ${network}`;
  return html`<li>${useWords[kind]} ${plainTime(at)}${target}${from}</li>`;
}

function sentPart({ room: { roomCode }, deliveries }: DeliveryView): Html {
  return html`<div class="room-part"><h3>Sent</h3>${deliveries.sent.map(
    ({
      id,
      recipientName,
      recipientEmail,
      documents,
      hasCertificate,
      createdAt,
      expiresAt,
      hasEnded,
      revokedAt,
      uses,
    }) => {
      const what = `${documents === 1 ? "1 document" : `${documents} documents`}${hasCertificate ? " with the closing certificate" : ""}`;
      const end = revokedAt
        ? html`The link was ended ${plainTime(revokedAt)}.`
        : html`The link ${hasEnded ? "ended" : "ends"} ${plainTime(expiresAt)}.`;
      return html`<div class="room-part"><p><strong class="breakable">${recipientName}, ${recipientEmail}</strong>: ${what}, ${plainTime(createdAt)}. ${end}</p>
${uses.every(({ kind }) => kind !== "download") && html`<p class="quiet-text">Not downloaded yet.</p>`}
${uses.length > 0 && html`<ul>${uses.map(useLine)}</ul>`}
${!revokedAt && !hasEnded && buttonForm(`/dashboard/rooms/${roomCode}/deliveries/${id}/revoke`, "End the link", { kind: "quiet-button", about: `to ${recipientName}` })}</div>`;
    },
  )}</div>`;
}
