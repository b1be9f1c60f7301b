import type { FastifyInstance, FastifyRequest } from "fastify";
import { type OwnRoom, ownRoom } from "../../../closing/rooms/rooms.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { actorOf } from "../../../kernel/identity/identity.ts";
import { type Corrected, correctAddress, readCorrected } from "../../../orders/corrections/corrections.ts";
import { readSigning, type SignerState } from "../../../signing/envelopes/envelopes.ts";
import { card, pageHead } from "../../ui/components.ts";
import { done } from "../../ui/flash-messages.ts";
import { plainTime } from "../../ui/format.ts";
import { hiddenFields } from "../../ui/forms/button-form.ts";
import { errorSummary, field, select } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { nameOf } from "../../ui/orders/room-words.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { ownOrder } from "../orders/own-order.ts";
import { correctionLine } from "../orders/put-right.ts";
import { dashboardPage } from "../page-shell.ts";
import { doOnce, submissionFor } from "../submit-once.ts";
import type { RoomsDeps } from "./changes.ts";

/** A document of the closing, with the people whose address can be corrected in it. */
type DocumentPeople = {
  title: string;
  client: { name: string | null; email: string };
  signers: readonly SignerState[];
  corrected: Corrected;
};

type AddressesView = {
  room: OwnRoom;
  submission: string;
  documents: readonly DocumentPeople[];
  problem: { error: string; typed: FormValues } | undefined;
};

const pathOf = (code: string): string => `/dashboard/rooms/${code}/addresses`;

/** Adds the page that corrects an email address in all documents of a closing. */
export function addressPages(forms: FastifyInstance, deps: RoomsDeps): void {
  const { closings, corrections, frame } = deps;
  pageRoute(forms, frame, {
    url: "/dashboard/rooms/:code/addresses",
    handle: ({ params, request }) => show(request, params.code),
  });
  pageRoute(forms, frame, {
    method: "POST",
    policy: "partner-write",
    url: "/dashboard/rooms/:code/addresses",
    refused: ({ params, form: typed, request }: PageCall<{ code: string }>, error: string) =>
      show(request, params.code, { error, typed }),
    handle: doOnce(closings, async ({ params: { code }, form, request }) => {
      const owner = principalOf(request);
      const { ownOrders } = await ownRoom(closings, owner, code);
      const wanted = { owner, orderCodes: [...ownOrders.keys()], actor: actorOf(owner) };
      await correctAddress(corrections, wanted, { from: form["from"] ?? "", to: form["to"] ?? "" });
      return done(pathOf(code), "address-corrected");
    }),
  });

  async function show(request: FastifyRequest, code: string, problem?: AddressesView["problem"]): Promise<string> {
    const owner = principalOf(request);
    const room = await ownRoom(closings, owner, code);
    const documents: DocumentPeople[] = [];
    for (const card of room.orders) {
      const own = room.ownOrders.get(card.orderCode);
      if (!own) continue;
      const { customerName: name, customerEmail: email } = await ownOrder(closings.db, request, card.orderCode);
      const { signers } = await readSigning(deps.envelopes, card.orderCode, owner);
      const corrected = await readCorrected(corrections, card.orderCode, owner);
      const title = card.label ?? deps.deliveries.titleOf(own) ?? nameOf(card);
      documents.push({ title, client: { name, email }, signers, corrected });
    }
    const { submission } = submissionFor(request, problem?.typed);
    const body = addressesBody({ room, submission, documents, problem });
    return dashboardPage(frame, request, { title: "Email addresses of the closing", section: "rooms", body });
  }
}

function addressesBody({ room, submission, documents, problem }: AddressesView): Html {
  const back = html`<p class="room-links"><a href="/dashboard/rooms/${room.roomCode}">Back to the room</a></p>`;
  const typed = problem?.typed ?? {};
  const options = [...addressesIn(room, documents)].map(([value, count]) => ({
    value,
    label: `${value} (${count === 0 ? "participant" : count === 1 ? "1 document" : `${count} documents`})`,
  }));
  const form = html`${errorSummary(problem?.error ?? null)}
<p>One correction covers every document of the closing in which it is still possible, and the participants of the room. Links to sign that went to the earlier address stop working at once; links to documents that are complete, on hold or with a notary go on working. The person is emailed one new link for all that is left to sign.</p>
<form class="form" method="post" action="${pathOf(room.roomCode)}">
${hiddenFields({ submission })}${select({ form: "addresses", name: "from", label: "Address to correct", required: true, value: typed["from"], options })}
${field({ form: "addresses", name: "to", type: "email", label: "Right address", required: true, maxLength: 254, value: typed["to"], autocomplete: "off" })}
<div class="form-actions"><button type="submit">Correct it in all documents</button></div>
</form>`;
  return html`${pageHead("Email addresses", room.name, back)}
<div class="panels">${card("addresses", "Correct an address", form)}
${card("by-document", "By document", byDocument(documents))}</div>`;
}

/** The addresses in use, and the number of documents in which each is. */
function addressesIn(room: OwnRoom, documents: readonly DocumentPeople[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { client, signers } of documents)
    for (const email of new Set(
      [client.email, ...signers.map((signer) => signer.email)].map((each) => each.toLowerCase()),
    ))
      counts.set(email, (counts.get(email) ?? 0) + 1);
  for (const { email } of room.participants) if (!counts.has(email.toLowerCase())) counts.set(email.toLowerCase(), 0);
  return counts;
}

const byDocument = (documents: readonly DocumentPeople[]): Html =>
  records(
    "People and addresses of each document",
    [{ label: "Document" }, { label: "People" }, { label: "Corrected" }, { label: "Can it be corrected now?" }],
    documents.map(({ title, client, signers, corrected }) => [
      title,
      html`<ul><li>Client: ${client.name} ${client.email}</li>${signers.map(({ name, email, signedAt }) => html`<li>Signer: ${name}, ${email}${signedAt && html` (signed ${plainTime(signedAt)}; this address stays in what was signed)`}</li>`)}</ul>`,
      correctedLines(corrected),
      corrected.refusals.email ?? "Yes, for people who have not signed",
    ]),
  );

function correctedLines({ corrections }: Corrected): Html {
  const moves = corrections.filter(({ kind }) => kind === "email" || kind === "signer");
  if (moves.length === 0) return html`Nothing`;
  return html`<ul>${moves.map((each) => html`<li>${correctionLine(each)}, ${plainTime(each.at, "en")}</li>`)}</ul>`;
}
