import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { canonicalJson } from "@signsealship/evidence/manifest";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { heldFile } from "../../../src/kernel/platform/blobs/stored-file.ts";
import { createMemoryBudget } from "../../../src/kernel/platform/bounds/memory-budget.ts";
import { ServiceError } from "../../../src/kernel/platform/errors.ts";
import type { Language } from "../../../src/kernel/platform/languages.ts";
import { inlineWorkers } from "../../../src/kernel/platform/workers/inline.ts";
import { markRecord } from "../../../src/signing/envelopes/ceremony/act-record.ts";
import {
  type Ceremony,
  newestText,
  readConsentTexts,
  type ShownField,
  type SigningView,
  type SignRequest,
} from "../../../src/signing/envelopes/envelopes.ts";
import type { PlannedField, PreparedField } from "../../../src/signing/envelopes/pdf/fields.ts";
import { readPictureIn } from "../../../src/signing/envelopes/pictures/pictures.ts";
import { readTextIn } from "../../../src/signing/envelopes/reading/read-text.ts";
import type { openSigning } from "../../signing/envelopes/pdf/signing.ts";

export const consentTexts = readConsentTexts(fileURLToPath(new URL("../../../data/consent", import.meta.url)));
export const token = "c".repeat(52);
export const signerName = "Jane Doe";
export const rightCode = "482913";

const size = 100 * 1024 * 1024;
const memory = createMemoryBudget({ bytes: size, bytesEach: size, waiting: 9, waitingEach: 9, waitMs: 20_000 });
const inMemory = (bytes: Buffer) => heldFile({ memory, holder: "firm test" }, bytes);

type Signing = Awaited<ReturnType<typeof openSigning>>;
export type Planned = PlannedField & { label?: string };

/** Jane signs on the last page, with her initials on the first one. */
const plannedOn = (pages: number): Planned[] => [
  { kind: "initials", signer: 1, page: 0, place: { x: 480, y: 700, width: 72, height: 30 } },
  { kind: "signature", signer: 1, page: pages - 1, place: { x: 72, y: 600, width: 180, height: 48 } },
  { kind: "date", signer: 1, page: pages - 1, place: { x: 300, y: 620, width: 120, height: 20 } },
  {
    kind: "text",
    signer: 1,
    page: pages - 1,
    place: { x: 300, y: 560, width: 200, height: 24 },
    label: "Parcel number",
  },
  { kind: "signature", signer: 2, page: pages - 1, place: { x: 72, y: 500, width: 180, height: 48 } },
];

export type Options = {
  /** Additional fields for Jane. */
  more?: readonly Planned[];
  senderValues?: SigningView["senderValues"];
  original?: Buffer;
  pages?: number;
  /** True if the service added the last page. */
  hasSignaturePage?: boolean;
  bytes?: number;
  step?: SigningView["step"];
  language?: Language;
  notices?: SigningView["notices"];
};

/**
 * An envelope of two signers in memory, with real files, as the first signer sees it. `asked` lists the received
 * requests.
 */
export async function memoryCeremony(
  signing: Signing,
  {
    pages = 3,
    hasSignaturePage = false,
    bytes,
    original: given,
    step = null,
    language = "en",
    notices = [],
    more = [],
    senderValues = [],
  }: Options = {},
) {
  const planned = [...plannedOn(pages), ...more];
  const original = given ?? makePdf({ pages, ...(bytes !== undefined && { bytes }) });
  const prepared = await signing.prepare(original, planned, [signerName, "Max Roe"]);
  const asked: string[] = [];
  let file: Buffer = prepared.bytes;
  let revision = 1;
  let view: SigningView = {
    state: step ? "identify" : "ready",
    isSimulated: false,
    environment: "live",
    orderCode: "3f9ac1d2e4b5a6978081726354a5b6c7d8e9f0a1",
    title: "Warranty deed, 12 Elm Street",
    reference: "FILE-2207",
    partnerId: "3f2f6a50-6a57-4f0e-9d4f-0d6a3e1f5a11",
    partnerName: "Acme Title",
    partnerContact: "closings+7@acme.example",
    signer: {
      n: 1,
      name: signerName,
      email: "jane@example.com",
      mailedTo: "jane@example.com",
      phoneEnding: null,
      language,
    },
    signers: [
      { n: 1, name: signerName, signed: false },
      { n: 2, name: "Max Roe", signed: false },
    ],
    expiresAt: new Date("2026-12-22T12:00:00Z"),
    frame: null,
    host: null,
    device: null,
    room: null,
    session: null,
    step,
    canSendWayIn: true,
    document: null,
    notices,
    fields: shownFields(planned, prepared.fields),
    referenced: [],
    senderValues,
    consent: null,
    signedAt: null,
    askedForPaper: false,
    signedElsewhere: false,
    copies: [],
    verifyCode: null,
  };
  const known = (given: string) => {
    if (given !== token) throw new ServiceError("not_found", "There is no such link.");
  };
  const mustNotBeHeld = () => {
    if (view.room?.maySign === false) throw new ServiceError("conflict", "The session is on hold.");
  };
  const change = (more: Partial<SigningView>) => {
    view = { ...view, ...more };
  };
  const document = () => ({
    revision,
    bytes: file.length,
    sha256: createHash("sha256").update(file).digest("hex"),
    pages,
    hasSignaturePage,
  });
  const written = prepared.fields.filter(({ signer, kind }) => signer === 1 && kind !== "signature" && kind !== "mark");
  const byKind = ({ values }: Pick<SignRequest, "values">): Record<string, string> => {
    return {
      ...Object.fromEntries(written.map((field) => [keyOf(field), values.get(field.name) ?? ""])),
      date: "2026-11-22",
    };
  };
  const signed = () => {
    revision++;
    change({
      state: "signed",
      signedAt: new Date("2026-11-22T10:05:00Z"),
      signers: view.signers.map((one) => ({ ...one, signed: one.n === 1 })),
    });
  };
  let waiting: { close: (signature: Uint8Array) => Buffer; said: string } | null = null;
  const ceremony: Ceremony = {
    async view(link) {
      known(link.token);
      const isThrough = step === null || link.session === "session-of-jane" || view.state !== "identify";
      const state = view.state === "identify" && isThrough ? "ready" : view.state;
      return { ...view, state, document: state === "identify" ? null : document() };
    },
    next: async () => null,
    async document(link) {
      const { state } = await ceremony.view(link);
      if (state === "identify") throw new ServiceError("conflict", "Enter the code first.");
      return { ...document(), file: inMemory(file) };
    },
    async text(link) {
      await ceremony.document(link);
      return readTextIn(inlineWorkers, { holder: "firm test", bytes: file });
    },
    async copy(link, kind) {
      const { copies } = await ceremony.view(link);
      if (!copies.some((copy) => copy.kind === kind)) throw new ServiceError("conflict", "There is none.");
      return inMemory(file);
    },
    async opened(link) {
      known(link.token);
      asked.push("opened");
    },
    frameOfTicket: async () => undefined,
    sitting: async () => undefined,
    beginTurn: async () => {
      throw new ServiceError("not_found", "No device.");
    },
    nextTurn: async () => {
      throw new ServiceError("not_found", "No device.");
    },
    endTurn: async () => {},
    frameOfSession: async () => undefined,
    async redeem() {
      throw new ServiceError("not_found", "There is no such ticket.");
    },
    async sendCode(link) {
      known(link.token);
      asked.push("code");
      if (asked.filter((one) => one === "code").length > 1) throw new ServiceError("rate_limited", "Too soon.");
      return "mailed";
    },
    async identify(link, code) {
      known(link.token);
      asked.push(`identify ${code}`);
      return code === rightCode ? { session: "session-of-jane", expiresAt: new Date(Date.now() + 3_600_000) } : null;
    },
    async enter() {
      return null;
    },
    async consent(link, { version, language: shown }) {
      known(link.token);
      if (version !== newestText(consentTexts, view)(shown).version) return { outcome: "changed" };
      asked.push(`consent ${version} ${shown}`);
      change({ consent: { version, at: new Date("2026-11-22T10:00:00Z") } });
      return { outcome: "consented" };
    },
    async sign(link, request) {
      known(link.token);
      mustNotBeHeld();
      if (view.state === "signed") throw new ServiceError("conflict", "You have signed.");
      if (request.revision !== revision) return { outcome: "again" };
      asked.push(`sign ${request.mark.kind} ${JSON.stringify([...request.values])}`);
      file = await signing.act(file, prepared.fields, 1, {
        name: signerName,
        mark: request.mark,
        values: byKind(request),
      });
      signed();
      return { outcome: "signed", completed: false };
    },
    async prepare(link, { publicKey, ...request }) {
      known(link.token);
      mustNotBeHeld();
      if (request.revision !== revision) return { outcome: "again" };
      const record = {
        keyHeldBy: "browser",
        mark: markRecord(request.mark),
        revision: { sha256: document().sha256 },
        values: written.map((field) => ({
          field: field.name,
          kind: field.kind,
          value: byKind(request)[keyOf(field)] ?? "",
          ...(field.option !== undefined && { option: field.option }),
        })),
      };
      const actSha256 = createHash("sha256").update(canonicalJson(record)).digest("hex");
      const doing = { name: signerName, mark: request.mark, values: byKind(request) };
      const { act, close } = await signing.open(file, prepared.fields, 1, doing, { publicKey, actSha256 });
      waiting = { close, said: `${request.mark.kind} ${JSON.stringify([...request.values])}` };
      return { ...act, record };
    },
    async complete(link, signature) {
      known(link.token);
      if (!waiting) return { outcome: "again" };
      file = waiting.close(signature);
      asked.push(`sign in the browser ${waiting.said}`);
      signed();
      return { outcome: "signed", completed: false };
    },
    picture: (link, bytes) => {
      known(link.token);
      return readPictureIn(inlineWorkers, { holder: "firm test", bytes });
    },
    async decline(link, { kind, reason }) {
      known(link.token);
      asked.push(`decline ${kind} ${reason}`);
      change({ state: "declined", askedForPaper: kind === "paper" });
    },
    async propose(link, { name, email }) {
      known(link.token);
      asked.push(`propose ${name} ${email}`);
    },
    async setLanguage(link, chosen) {
      known(link.token);
      change({ signer: { ...view.signer, language: chosen } });
    },
  };
  return {
    ceremony,
    asked,
    change,
    file: () => file,
    /** Simulates that the other signer signs first. */
    async otherSigns() {
      file = await signing.act(file, prepared.fields, 2, { name: "Max Roe" });
      revision++;
    },
  };
}

/** The name by which tests refer to the value of a field. */
const keyOf = ({ option, label, kind }: Pick<PreparedField, "option" | "label" | "kind">): string =>
  option ?? label ?? kind;

function shownFields(planned: readonly Planned[], prepared: readonly PreparedField[]): ShownField[] {
  return planned.flatMap(({ signer, page, place, label, required }, index): ShownField[] => {
    const field = prepared[index];
    if (signer !== 1 || field === undefined) return [];
    const { name, kind } = field;
    const { x: left, y: top, width, height } = place;
    const shown = { name, kind, page: page + 1, left, top, width, height, label: label ?? null };
    const { help, format, options, option, group, id, showWhen, formula, choices } = field;
    const value = kind === "date" ? "2026-11-22" : field.value;
    const more = { value, help, format, options, option, group, id, showWhen, formula, choices };
    const given = Object.fromEntries(Object.entries(more).filter(([, each]) => each !== undefined));
    return [{ ...shown, required: required ?? kind !== "text", ...given }];
  });
}
