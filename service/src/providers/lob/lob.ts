import { membersIn } from "../../kernel/platform/json.ts";
import type { Call, CallOutcome } from "../calls/call.ts";
import { type AcceptedLetter, readLetter } from "./letter.ts";

/** An address in the US. */
type LobAddress = Readonly<Record<"name" | "line1" | "city" | "state" | "postal", string>> & {
  readonly line2: string | null;
};

/** Certified mail proves delivery. A return receipt adds the receiver's signature. */
const mailClasses = ["certified", "certified_return_receipt", "standard"] as const;
export type MailClass = (typeof mailClasses)[number];

/** A letter to print and mail. */
type NewLetter = {
  to: LobAddress;
  from: LobAddress;
  /** A PDF whose pages all have letter size. */
  pdf: Uint8Array<ArrayBuffer>;
  mailClass: MailClass;
  doubleSided: boolean;
  /** Names and values that are stored with the letter. A look-up can find the letter by them. */
  metadata: Readonly<Record<string, string>>;
};

type NoAnswer = Exclude<CallOutcome, { kind: "answered" }>;
type Answer<T> = { kind: "done"; result: T } | NoAnswer;

/** The parts of Lob's letters API (version 1) that the service uses. */
export type Lob = {
  /**
   * Sends a letter. A repeated request with the same key within 24 hours returns the same letter and sends no second
   * one.
   */
  send: (letter: NewLetter, idempotencyKey: string) => Promise<Answer<AcceptedLetter>>;
  get: (letterId: string) => Promise<Answer<AcceptedLetter>>;
  /** The newest letters with this metadata, at most ten, the newest first. */
  find: (metadata: Readonly<Record<string, string>>) => Promise<Answer<AcceptedLetter[]>>;
  /** Cancels a letter. Lob allows this until production of the letter starts. */
  cancel: (letterId: string) => Promise<Answer<null>>;
};

/**
 * Creates the client for Lob's letters API.
 * @param call sends requests with the account's credentials
 */
export function createLob(call: Call): Lob {
  return {
    send: async (letter, idempotencyKey) =>
      read(
        await call({
          method: "POST",
          path: "/v1/letters",
          body: formOf(letter),
          headers: { "Idempotency-Key": idempotencyKey },
        }),
        readLetter,
      ),
    get: async (letterId) =>
      read(await call({ method: "GET", path: `/v1/letters/${encodeURIComponent(letterId)}` }), readLetter),
    async find(metadata) {
      const query = new URLSearchParams({ limit: "10" });
      for (const [name, value] of Object.entries(metadata)) query.set(`metadata[${name}]`, value);
      return read(await call({ method: "GET", path: `/v1/letters?${query}` }), readLetters);
    },
    async cancel(letterId) {
      const outcome = await call({ method: "DELETE", path: `/v1/letters/${encodeURIComponent(letterId)}` });
      return read(outcome, (body) => (membersIn(body)["deleted"] === true ? { value: null } : undefined));
    },
  };
}

/** An unreadable response is `unknown`, because Lob may have acted. */
function read<T>(outcome: CallOutcome, parse: (body: unknown) => { value: T } | undefined): Answer<T> {
  if (outcome.kind !== "answered") return outcome;
  const parsed = parse(outcome.body);
  return parsed ? { kind: "done", result: parsed.value } : { kind: "unknown", why: "an answer of another shape" };
}

function readLetters(body: unknown): { value: AcceptedLetter[] } | undefined {
  const data = membersIn(body)["data"];
  const letters = Array.isArray(data) ? data.map((each) => readLetter(each)?.value) : [undefined];
  return letters.every((letter) => letter !== undefined) ? { value: letters } : undefined;
}

function formOf({ to, from, pdf, mailClass, doubleSided, metadata }: NewLetter): FormData {
  const form = new FormData();
  addAddress(form, "to", to);
  addAddress(form, "from", from);
  for (const [name, value] of Object.entries(metadata)) form.append(`metadata[${name}]`, value);
  form.append("color", "true");
  form.append("double_sided", String(doubleSided));
  // Lob prints the address on a separate page, so that nothing is printed on the document.
  form.append("address_placement", "insert_blank_page");
  form.append("mail_type", "usps_first_class");
  if (mailClass !== "standard") form.append("extra_service", mailClass);
  form.append("use_type", "operational");
  // The request contains the file itself. If Lob fetched it from a URL, third parties could fetch the client's document
  // too.
  form.append("file", new Blob([pdf], { type: "application/pdf" }), "letter.pdf");
  return form;
}

function addAddress(form: FormData, side: "to" | "from", address: LobAddress): void {
  const { name, line1, line2, city, state, postal } = address;
  form.append(`${side}[name]`, name);
  form.append(`${side}[address_line1]`, line1);
  if (line2) form.append(`${side}[address_line2]`, line2);
  form.append(`${side}[address_city]`, city);
  form.append(`${side}[address_state]`, state);
  form.append(`${side}[address_zip]`, postal);
  form.append(`${side}[address_country]`, "US");
}
