import type { FastifyRequest } from "fastify";
import {
  addParticipant,
  createRoom,
  inviteParticipant,
  newRoomFields,
  participantFields,
} from "../../../closing/rooms/rooms.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import {
  type Answering,
  checkOrder,
  type OrderDeps,
  type PlacedOrder,
  placeOrder,
  readWhole,
  type TitleOf,
} from "../../../orders/order/order.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { refusalWords } from "../orders/words.ts";
import { attachTitled } from "../rooms/attach.ts";
import { submissionKey, submitOnce } from "../submit-once.ts";
import { type ClosingDocument, documentsIn, orderOf, peopleIn, signersOf } from "./fields.ts";

export type ClosingDeps = { orders: OrderDeps; titleOf: TitleOf };

/** All that is wrong with a closing's form; nothing was placed. */
export class ClosingRefused extends ServiceError {
  readonly messages: readonly string[];

  constructor(messages: readonly string[]) {
    super("validation", messages[0] ?? "");
    this.messages = messages;
  }
}

/**
 * Places the closing of a form: checks all documents, then makes the room and places them one after another. A form that was cut
 * off half-way continues when it is sent again: the room and the placed orders are found by the form's own key.
 * @returns the room's code
 * @throws ClosingRefused with the errors of all documents, before anything is placed
 */
export async function placeClosing(deps: ClosingDeps, request: FastifyRequest, values: FormValues): Promise<string> {
  const { orders } = deps;
  const principal = principalOf(request);
  const documents = documentsIn(values);
  const fields = new Map(Object.entries(values));
  const { name: roomCode } = await submitOnce(orders, request, {
    fields,
    make: async () => {
      const messages = await refusalsOf(deps, request, values);
      if (messages.length > 0) throw new ClosingRefused(messages);
      return createRoom(orders, principal, roomFields(values));
    },
    nameOf: (room) => room.roomCode,
  });
  for (const { role, invited, ...person } of participantsIn(values)) {
    const to = [orders, principal, roomCode, participantFields({ ...person, role })] as const;
    // The same form again mails nobody twice, and invites those whom a form that was cut off did not reach.
    await (invited ? inviteParticipant(...to, { onlyNew: true }) : addParticipant(...to));
  }
  for (const document of documents) {
    const key = submissionKey(new Map([...fields, ["document", String(document.n)]]), null);
    const sent = { fields: orderOf(values, document), upload: null, documentName: document.name || document.fileName };
    const wanted = { principal, sent, route: "POST /dashboard/closings/new", idempotencyKey: key };
    const { result } = await placeOrder(orders, wanted, answering).catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
      throw new ServiceError(
        error.code,
        `${nameOf(document)}: ${refusalWords(error.message).text} The documents before it are in the room.`,
      );
    });
    const label = document.name.slice(0, 200);
    await attachTitled({ ...orders, titleOf: deps.titleOf }, principal, roomCode, { ...result, label });
  }
  return roomCode;
}

const answering: Answering<PlacedOrder> = {
  status: 303,
  resultOf: ({ code }) => ({ orderCode: code, checkoutUrl: null }),
};

const roomFields = (values: FormValues) =>
  newRoomFields({ name: values["closing_name"], reference: values["file_number"] });

const nameOf = ({ n, name, fileName }: ClosingDocument): string => `Document ${n} (${name || fileName})`;

/** Everything that is wrong with the form: what all documents share once, then document by document. */
export async function refusalsOf(
  { orders }: Pick<ClosingDeps, "orders">,
  request: FastifyRequest,
  values: FormValues,
): Promise<string[]> {
  const principal = principalOf(request);
  const documents = documentsIn(values);
  const messages = new Set<string>();
  const noted = (read: () => unknown, about = "") => {
    try {
      read();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      messages.add(about + error.message);
    }
  };
  noted(() => roomFields(values));
  for (const { row, name, email } of peopleIn(values))
    noted(() => participantFields({ name, email, role: "signer" }), `Person ${row}: `);
  if (documents.length === 0) messages.add("Add at least one document.");
  for (const document of documents) {
    const { refusals } = readWhole(orderOf(values, document), false, orders.offer.pricing);
    for (const refusal of refusals) messages.add(inWords(refusal, document));
    if (document.name === "") messages.add(`${nameOf(document)}: give it a name.`);
    if (document.services.sign && signersOf(values, document).length === 0)
      messages.add(`${nameOf(document)}: choose who signs it.`);
    if (refusals.length > 0) continue;
    try {
      await checkOrder(orders, principal, { fields: orderOf(values, document), upload: null });
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "validation") throw error;
      messages.add(inWords(error.message, document));
    }
  }
  return [...messages];
}

/** Fields that all documents share: their refusals are said once. */
const isShared = (field: string | null): boolean =>
  field !== null &&
  /^(?:email|name|signer_state|byod_confirmed|pay_by|ship_|fax_to|external_reference|signer\d)/.test(field);

function inWords(message: string, document: ClosingDocument): string {
  const { text, field } = refusalWords(message);
  return isShared(field) ? text : `${nameOf(document)}: ${text}`;
}

/** The people of the room: the client and the others. */
function participantsIn(values: FormValues) {
  const client = {
    name: values["name"] || values["email"] || "",
    email: values["email"] ?? "",
    role: "client",
    invited: false,
  };
  const others = peopleIn(values).map(({ name, email, signs }) => ({
    name,
    email,
    role: signs ? "signer" : "recipient",
    invited: !signs,
  }));
  return [client, ...others];
}
