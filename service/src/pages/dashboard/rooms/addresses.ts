import type { FastifyInstance, FastifyRequest } from "fastify";
import { correctInRoom, type RoomDocuments, roomDocuments } from "../../../closing/rooms/rooms.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { nullIfAltered } from "../../../kernel/platform/database/state-mac.ts";
import { type Corrected, readCorrected } from "../../../orders/corrections/corrections.ts";
import { currentEmail } from "../../../orders/order/order.ts";
import { readSigning, type SignerState } from "../../../signing/envelopes/envelopes.ts";
import { card, notice, pageHead } from "../../ui/components.ts";
import { plainTime } from "../../ui/format.ts";
import { hiddenFields } from "../../ui/forms/button-form.ts";
import { errorSummary, field, select } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { nameOfAltered } from "../../ui/orders/room-words.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";
import { ownOrder } from "../orders/own-order.ts";
import { correctionLine, newLinks } from "../orders/put-right.ts";
import { dashboardPage } from "../page-shell.ts";
import { doOnce, submissionFor } from "../submit-once.ts";
import type { RoomsDeps } from "./changes.ts";

/** A document of the closing, with the people whose email address can be corrected. */
type DocumentPeople = {
  orderCode: string;
  title: string;
  client: { name: string | null; email: string };
  signers: readonly SignerState[];
  corrected: Corrected;
};

/**
 * The documents of a closing. `altered` has the titles of those whose database record fails its MAC; their people can't
 * be read or corrected.
 */
type Documents = { documents: readonly DocumentPeople[]; altered: readonly string[] };

type AddressesView = Documents & {
  room: RoomDocuments;
  submission: string;
  problem: { error: string; typed: FormValues } | undefined;
};

const pathOf = (code: string): string => `/dashboard/rooms/${code}/addresses`;

/**
 * Adds the page that corrects an email address in all of the firm's orders of a closing. Orders with an altered record
 * are left out.
 */
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
      const typed = { ...chosenPerson(form["from"] ?? ""), to: form["to"] ?? "" };
      const { isUnmailed } = await correctInRoom(corrections, principalOf(request), code, typed);
      return done(pathOf(code), isUnmailed ? "address-corrected-unmailed" : "address-corrected");
    }),
  });

  async function show(request: FastifyRequest, code: string, problem?: AddressesView["problem"]): Promise<string> {
    const owner = principalOf(request);
    const room = await roomDocuments(closings, owner, code);
    const title = "Email addresses of the closing";
    if (!room.isAuthentic)
      return dashboardPage(frame, request, { title, section: "rooms", body: alteredRoomBody(problem?.error) });
    const documents = await documentsOf(request, room);
    const { submission } = submissionFor(request, problem?.typed);
    const body = addressesBody({ room, submission, ...documents, problem });
    return dashboardPage(frame, request, { title, section: "rooms", body });
  }

  async function documentsOf(request: FastifyRequest, room: RoomDocuments): Promise<Documents> {
    const documents: DocumentPeople[] = [];
    const altered: string[] = [];
    for (const document of room.documents) {
      const { code: orderCode, isAuthentic } = document;
      const title = nameOfAltered(deps.deliveries.titleOf, document);
      const people = isAuthentic ? await peopleOf(request, orderCode).catch(nullIfAltered) : null;
      if (people) documents.push({ orderCode, title, ...people });
      else altered.push(title);
    }
    return { documents, altered };
  }

  async function peopleOf(request: FastifyRequest, orderCode: string) {
    const owner = principalOf(request);
    const { customerName: name, customerEmail: email } = await ownOrder(closings.db, request, orderCode);
    const { signers } = await readSigning(deps.envelopes, orderCode, owner);
    const corrected = await readCorrected(corrections, orderCode, owner);
    return { client: { name, email }, signers, corrected };
  }
}

const outOfReach = (altered: readonly string[]): Html | false =>
  altered.length > 0 &&
  notice(
    "stopped",
    "Some records were altered",
    `Nothing is shown or corrected in these documents: ${altered.join(", ")}. The operator of this service has to look at them.`,
  );

/**
 * The page of a room whose own record fails its MAC. The record may show a wrong name and documents of somebody else.
 */
const alteredRoomBody = (error: string | undefined): Html =>
  html`${pageHead("Email addresses", "This closing can’t be shown: its record was altered", html`<p class="room-links"><a href="/dashboard/rooms">Back to the rooms</a></p>`)}${errorSummary(error ?? null)}${notice(
    "stopped",
    "The closing’s own record was altered",
    "It says which documents and participants belong to the closing, so no address can be corrected here. The operator of this service has to look at it.",
  )}`;

function addressesBody({ room, submission, documents, altered, problem }: AddressesView): Html {
  const back = html`<p class="room-links"><a href="/dashboard/rooms/${room.roomCode}">Back to the room</a></p>`;
  const typed = problem?.typed ?? {};
  const form = html`${errorSummary(problem?.error ?? null)}
<p>One correction covers every document of the closing, the participants of the room, and the people who are sent its documents.
All links that were emailed to the earlier address stop working at once: to sign, to signed and finished documents, to the client’s documents, and to documents that you sent from the room. ${newLinks}</p>
<p>Two things stay. The link of the room, and the page of an order that shows its state and price without documents, are the same for everybody who has them: to end the room’s link, <a href="/dashboard/rooms/${room.roomCode}#share-title">replace it</a>.
And people whom a notary identifies now keep their address until that has ended: ask the operator of this service.</p>
<form class="form" method="post" action="${pathOf(room.roomCode)}">
${hiddenFields({ submission })}${select({ form: "addresses", name: "from", label: "Address to correct", required: true, value: typed["from"], options: optionsOf(peopleIn(room, documents)) })}
${field({ form: "addresses", name: "to", type: "email", label: "Right address", required: true, maxLength: 254, value: typed["to"], autocomplete: "off" })}
<div class="form-actions"><button type="submit">Correct it in all documents</button></div>
</form>`;
  return html`${pageHead("Email addresses", room.name, back)}${outOfReach(altered)}
<div class="panels">${card("addresses", "Correct an address", form)}
${card("by-document", "By document", byDocument(documents))}</div>`;
}

/** A person of the closing. `documents` is the number of documents in which this person has this email address. */
type Person = { name: string; email: string; documents: number };

/**
 * The people of the closing, each with the present email address. People with the same address are distinguished by
 * their names.
 */
function peopleIn(room: RoomDocuments, documents: readonly DocumentPeople[]): readonly Person[] {
  const found = new Map<string, Person>();
  const add = (name: string, email: string, count: number) => {
    const key = `${email} ${name}`.toLowerCase();
    found.set(key, { name, email: email.toLowerCase(), documents: (found.get(key)?.documents ?? 0) + count });
  };
  for (const { client, signers, corrected } of documents) {
    const all = signers.map((signer) => ({ name: signer.name, email: currentEmail(corrected.corrections, signer) }));
    const isShared = all.some(({ email }) => email.toLowerCase() === client.email.toLowerCase());
    // A client without a name who has a signer's address is that signer, and not another person.
    if (client.name !== null || !isShared) all.push({ ...client, name: client.name ?? client.email });
    const once = new Map(all.map(({ name, email }) => [`${email} ${name}`.toLowerCase(), { name, email }]));
    for (const { name, email } of once.values()) add(name, email, 1);
  }
  for (const { name, email } of room.participants) add(name, email, 0);
  return [...found.values()];
}

/**
 * The choices of the form: one for each person, and one for everybody at an email address that several people share.
 */
function optionsOf(people: readonly Person[]): { value: string; label: string }[] {
  const sharing = Map.groupBy(people, ({ email }) => email);
  return [...sharing].flatMap(([email, all]) => {
    if (all.length === 1) return all.map((person) => ({ value: email, label: labelOf(person) }));
    const everybody = `Everybody at ${email}: ${all.map(({ name }) => name).join(", ")}`;
    return [
      ...all.map((person) => ({ value: `${email} ${person.name}`, label: labelOf(person) })),
      { value: email, label: everybody },
    ];
  });
}

function labelOf({ name, email, documents }: Person): string {
  const count = documents === 0 ? "participant" : documents === 1 ? "1 document" : `${documents} documents`;
  return name.toLowerCase() === email ? `${email} (${count})` : `${name}, ${email} (${count})`;
}

/**
 * Reads the value of a choice. `from` is the email address to change. `name` is a person's name if several people share
 * that address and only this person was chosen; otherwise null.
 */
function chosenPerson(value: string): { from: string; name: string | null } {
  const [from = "", ...name] = value.split(" ");
  return { from, name: name.length === 0 ? null : name.join(" ") };
}

const signerLine = ({ name, email, signedAt }: DocumentPeople["signers"][number]): Html =>
  html`<li>Signer: ${name}, ${email}${signedAt && html` (signed ${plainTime(signedAt)}; this address stays in what was signed)`}</li>`;

const byDocument = (documents: readonly DocumentPeople[]): Html =>
  records(
    "People and addresses of each document",
    [{ label: "Document" }, { label: "People" }, { label: "Corrected" }, { label: "Can it be corrected now?" }],
    documents.map(({ title, client, signers, corrected }) => [
      title,
      html`<ul><li>Client: ${client.name} ${client.email}</li>${signers.map(signerLine)}</ul>`,
      correctedLines(corrected),
      corrected.refusals.email ?? "Yes",
    ]),
  );

function correctedLines({ corrections }: Corrected): Html {
  const moves = corrections.filter(({ kind }) => kind === "email" || kind === "signer");
  if (moves.length === 0) return html`Nothing`;
  return html`<ul>${moves.map((each) => html`<li>${correctionLine(each)}, ${plainTime(each.at, "en")}</li>`)}</ul>`;
}
