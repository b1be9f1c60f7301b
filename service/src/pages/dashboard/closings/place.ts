import type { FastifyRequest } from "fastify";
import { writeReceivers } from "../../../closing/deliveries/deliveries.ts";
import { type NewClosing, newRoomFields, participantFields, placeClosing } from "../../../closing/rooms/rooms.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { Principal } from "../../../kernel/identity/identity.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { isServiceError, ServiceError } from "../../../kernel/platform/errors.ts";
import { newCode } from "../../../kernel/platform/ids.ts";
import { draftOrder, type OrderDeps, type PricedOrder, readWhole } from "../../../orders/order/order.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { shippedFaults } from "../orders/new/place.ts";
import { chargeFields, methodToCharge, shownChargeOf } from "../orders/new/shown-charge.ts";
import { fieldRefusal, labels, lacksPlace, refusalWords } from "../orders/words.ts";
import { submitRecorded } from "../submit-once.ts";
import {
  type ClosingDocument,
  documentsIn,
  hasOwn,
  isSigned,
  mayAddPage,
  orderOf,
  peopleIn,
  receiversOf,
  signersOf,
  strayFields,
} from "./fields.ts";
import { hasRoleForEach, noWayWords } from "./templates.ts";
import { withoutWay } from "./ways.ts";

/**
 * For each rejected document, by its number in the form: the indexes of the rejected placed fields, and the reasons.
 */
export type RefusedFields = ReadonlyMap<number, readonly { index: number; text: string }[]>;

/**
 * Thrown with the errors of a closing's form; nothing was placed. Later checks, such as that of the charge, run only if
 * the documents have no errors.
 */
export class ClosingRefused extends ServiceError {
  readonly messages: readonly string[];
  readonly fields: RefusedFields;
  /** The numbers of the documents without a place for every signer. `messages` does not include them. */
  readonly withoutPlace: readonly number[];

  constructor(
    messages: readonly string[],
    { fields = new Map(), withoutPlace = [] }: { fields?: RefusedFields; withoutPlace?: readonly number[] } = {},
  ) {
    super("validation", messages[0] ?? "");
    this.messages = messages;
    this.fields = fields;
    this.withoutPlace = withoutPlace;
  }
}

/**
 * Places the closing of a form: checks all documents, then writes the room, its people and all orders in one
 * transaction. Submitting the same form twice places one closing.
 * @param alongside makes further changes in the transaction that places the closing
 * @returns the room's code. `isUncharged` is true if this call placed the closing, the firm pays, and nothing is
 * charged automatically
 * @throws ClosingRefused with the errors of all documents, or with one error of a later check, such as a changed
 * charge; then nothing was placed
 */
export async function placeForm(
  orders: OrderDeps,
  request: FastifyRequest,
  values: FormValues,
  alongside: (tx: Sql) => Promise<void>,
): Promise<{ roomCode: string; isUncharged: boolean }> {
  let isUncharged = false;
  // The deduplication key leaves out the draft's fields, so that two windows of one draft place only one closing. It
  // also leaves out the displayed price, so that the same closing isn't placed again after a price change.
  const unmeant = ["draft", "draft_version", "draft_window", ...chargeFields];
  const fields = new Map(Object.entries(values).filter(([name]) => !unmeant.includes(name)));
  const { roomCode } = await submitRecorded(orders, request, fields, async (recordClosing) => {
    const record: typeof recordClosing = async (tx, closingCode) => {
      await recordClosing(tx, closingCode);
      await alongside(tx);
    };
    const closing = await closingIn(orders, request, values);
    isUncharged = closing.methodToCharge === null;
    return placeClosing(orders, principalOf(request), closing, { record, receive: writeReceivers }).catch(
      (error: unknown) => {
        if (!isServiceError(error, "validation")) throw error;
        throw new ClosingRefused([refusalWords(error.message).text]);
      },
    );
  });
  return { roomCode, isUncharged };
}

const nameOf = ({ n, name, fileName }: ClosingDocument): string => `Document ${n} (${name || fileName})`;

// Texts that replace error messages of the API about a room and its people, because those don't name a field of the
// form.
const ownWords = [
  { means: /^A room name /, text: "“Name” of the closing must have 1 to 200 characters." },
  { means: /^A valid closing day /, text: "“Closes on” must be a day of this century." },
  { means: /^reference must be text /, text: `“${labels.external_reference}” must have at most 120 characters.` },
  { means: /^A participant name /, text: "“Name” must have 1 to 200 characters." },
  { means: /^A valid participant email /, text: "“Email” must be an email address." },
] as const;

const roomWords = (message: string): string => ownWords.find(({ means }) => means.test(message))?.text ?? message;

/**
 * True if `message` is about a signer's name or email address, and an earlier message already is about the same person.
 * The API repeats such a message for each document that the person signs.
 */
function repeats(messages: ReadonlySet<string>, message: string, signers: readonly { row: string }[]): boolean {
  const index = /^signers\[(\d+)\]\.(?:name|email)\b/.exec(message)?.[1];
  const row = index === undefined ? undefined : signers[Number(index)]?.row;
  const start = row === "client" ? "“Client’s " : `Person ${row}: `;
  return row !== undefined && [...messages].some((each) => each.startsWith(start));
}

/**
 * The reasons to refuse a document's order. Its file is not checked here, because it was checked when it was stored.
 */
const faultsOf = ({ offer: { pricing } }: OrderDeps, fields: ReadonlyMap<string, string>): string[] => [
  ...readWhole(fields, false, pricing).refusals,
  ...shippedFaults(pricing, fields),
];

/** The errors about a document's signers: placed fields of people who don't sign it, and signers without a way to sign. */
function signerFaults(document: ClosingDocument, strays: number, signing: ReturnType<typeof signersOf>): string[] {
  const faults: string[] = [];
  if (strays > 0) {
    const fields = strays === 1 ? "a field is" : `${strays} fields are`;
    faults.push(`${fields} for somebody who does not sign it. Change the fields on its pages.`);
  }
  const missing = document.services.sign ? withoutWay(document.ways, signing) : [];
  if (missing.length > 0) {
    const people = missing.map(
      ({ row, name, email }) => name || email || (row === "client" ? "the client" : `person ${row}`),
    );
    faults.push(noWayWords(people, document.template !== "" && hasRoleForEach(document, signing)));
  }
  return faults;
}

/**
 * Reads the form, and checks and prices each document.
 * @throws ClosingRefused with all errors: those of shared fields once, then those of each document. If the form has no
 * errors, the charge is compared with the one that the form showed, and a difference is the only error
 */
async function closingIn(orders: OrderDeps, request: FastifyRequest, values: FormValues): Promise<NewClosing> {
  const principal = principalOf(request);
  const messages = new Set<string>();
  const refusedFields = new Map<number, { index: number; text: string }[]>();
  const withoutPlace: number[] = [];
  const refuse = (message: string, document: ClosingDocument) => {
    if (lacksPlace(message)) {
      withoutPlace.push(document.n);
      return;
    }
    if (!repeats(messages, message, signersOf(values, document))) messages.add(inWords(message, document, values));
    if (!message.startsWith("fields[")) return;
    const { index, rule } = fieldRefusal(message);
    refusedFields.set(document.n, [...(refusedFields.get(document.n) ?? []), { index, text: rule }]);
  };
  const noted = <Read>(read: () => Read, about = ""): Read | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      messages.add(about + roomWords(error.message));
      return undefined;
    }
  };
  const room = noted(() =>
    newRoomFields({ name: values["closing_name"], reference: values["file_number"], closesOn: values["closes_on"] }),
  );
  const documents = documentsIn(values);
  const signed = documents.filter(isSigned);
  const mayAdd = mayAddPage(values);
  for (const { row, name, email, signs } of peopleIn(values)) {
    noted(() => participantFields({ name, email, role: "signer" }), `Person ${row}: `);
    if (signs && documents.length > 0 && !signed.some(({ signers }) => signers.has(String(row))))
      messages.add(`Person ${row}${name && ` (${name})`}: choose what this person signs, or another role.`);
  }
  const drafts: NewClosing["documents"][number][] = [];
  // A closing passport (the evidence about a whole closing) sorts its documents by order code. Ascending codes preserve
  // the order of the form.
  const codes = documents.map(() => newCode()).sort();
  for (const [index, document] of documents.entries()) {
    const fields = orderOf(values, document);
    const refusals = faultsOf(orders, fields);
    const strays = document.services.sign ? strayFields(values, document) : 0;
    const signing = signersOf(values, document);
    for (const fault of signerFaults(document, strays, signing)) messages.add(`${nameOf(document)}: ${fault}`);
    // The API's messages about placed fields would repeat the message above.
    for (const refusal of refusals) if (strays === 0 || !refusal.startsWith("fields[")) refuse(refusal, document);
    if (document.name === "") messages.add(`${nameOf(document)}: give it a name.`);
    if (isSigned(document) && signing.length === 0) messages.add(`${nameOf(document)}: choose who signs it.`);
    if (refusals.length > 0) continue;
    try {
      const code = codes[index];
      const sent = { code, fields, upload: null, documentName: document.name || document.fileName, mayAddPage: mayAdd };
      const { order } = await draftOrder(orders, principal, sent);
      drafts.push({ order, label: document.name.slice(0, 200), receivers: receiversOf(values, document) });
    } catch (error) {
      if (!isServiceError(error, "validation")) throw error;
      refuse(error.message, document);
    }
  }
  if (documents.length === 0) messages.add("Add at least one document.");
  if (messages.size > 0 || withoutPlace.length > 0 || !room)
    throw new ClosingRefused([...messages], { fields: refusedFields, withoutPlace });
  const priced = pricesOf(drafts, documents);
  return {
    room,
    sealsWhenDone: values["seals_when_done"] === "on",
    people: participantsIn(values),
    documents: drafts,
    methodToCharge: await agreedMethod(orders, principal, values, priced),
  };
}

const pricesOf = (drafts: NewClosing["documents"], documents: readonly ClosingDocument[]): PricedOrder[] =>
  drafts.map(({ order: { totalCents, manualQuoteReason } }, index) => {
    const document = documents[index];
    const reason = manualQuoteReason && document ? `${nameOf(document)}: ${manualQuoteReason}` : manualQuoteReason;
    return { totalCents, manualQuoteReason: reason };
  });

/**
 * The payment method to charge automatically for a closing that the firm pays: null for none; undefined if the client
 * pays.
 * @throws ClosingRefused when the charge would differ from the one that the form showed
 */
async function agreedMethod(
  orders: OrderDeps,
  principal: Principal,
  values: FormValues,
  priced: readonly PricedOrder[],
): Promise<string | null | undefined> {
  if (values["pay_by"] !== "firm") return undefined;
  try {
    return await methodToCharge(orders, principal, shownChargeOf(values), priced);
  } catch (error) {
    if (!isServiceError(error, "validation")) throw error;
    throw new ClosingRefused([refusalWords(error.message).text]);
  }
}

/**
 * True if this document takes the field's value from the closing. A message about such a field names no document, so it
 * appears only once for all documents.
 */
const isShared = (field: string | null, document: ClosingDocument): boolean =>
  field !== null &&
  !hasOwn(document, field) &&
  /^(?:email|name|signer_state|byod_confirmed|pay_by|ship_|fax_to|external_reference|signer\d)/.test(field);

function inWords(message: string, document: ClosingDocument, values: FormValues): string {
  const { text: ofOrder, field } = refusalWords(message, { fields: document.fields });
  // The API's messages identify a document's signers by number. This page calls them "the client" and "person 1".
  const text = ofOrder.replace(/\bsigner (\d+)\b/gi, (words, n: string) => {
    const row = signersOf(values, document)[Number(n) - 1]?.row;
    return row === undefined ? words : row === "client" ? "the client" : `person ${row}`;
  });
  return isShared(field, document) ? text : `${nameOf(document)}: ${text}`;
}

/** The people of the room: the client and the others. Those who don't sign are mailed the room's link. */
function participantsIn(values: FormValues): NewClosing["people"] {
  const email = values["email"] ?? "";
  const client = { name: values["name"] || email, email, role: "client", isInvited: false };
  const others = peopleIn(values).map(({ name, email, signs }) => ({
    name,
    email,
    role: signs ? "signer" : "recipient",
    isInvited: !signs,
  }));
  return [client, ...others].map(({ isInvited, ...person }) => ({ ...participantFields(person), isInvited }));
}
