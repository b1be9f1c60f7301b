import { sealReasons } from "@signsealship/evidence/seal";
import { withAttachments } from "../../../../../packages/evidence/test/seal/closing-pdf.ts";
import { collection, type Made, notVerified, type State, verified, verifiedTest } from "./case.ts";
import { asJson, evidenceOf, hexOf } from "./evidence.ts";
import { sealed } from "./sealing.ts";

type Files = Readonly<Record<string, Uint8Array>>;
const text = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

const event = text({ data: { event_type: "fax.delivered" } });
const headers = { "telnyx-timestamp": "1780000000", "telnyx-signature-ed25519": `${"A".repeat(86)}==` };
const listed = { file: "event-01.json", provider: "telnyx", type: "fax.delivered", sha256: hexOf(event) };
const said = { format: "signsealship-receipt", version: 1, kind: "fax_certificate", environment: "live" };
const EVENT: Files = { "event-01.json": event, "event-01.headers.json": text(headers) };
const receiptJson = (changes: object = {}): Files => ({
  "receipt.json": text({ ...said, events: [listed], ...changes }),
});

const attached = { record_attached: "holds" } as const;
const missing = { record_attached: "fails" } as const;
const events = (state: State) => ({ ...attached, receipt_events: state }) as const;
const whole = { ...events("holds"), receipt_signatures: "unchecked" } as const;

/** Vectors of seals whose purpose requires an attached record (docs/evidence-format.md, section 21). */
export async function attachedRecords(): Promise<Made> {
  const { add, put, made, slug } = collection("attached");
  const { record } = await evidenceOf();
  const one = async (
    name: string,
    files: Files,
    reason: string,
    expect: ReturnType<typeof verified>,
    teaches = "What a seal speaks of is attached to it as the format says, or it is not verified.",
  ) => {
    const bytes = await sealed(withAttachments(files), { reason });
    add({ name, kind: "sealed_pdf", files: { sealed: put(`${slug(name)}.pdf`, bytes) }, expect, teaches });
  };
  const passport = (changes: object = {}): Files => ({ "passport.json": asJson({ ...record, ...changes }) });
  const { live, test } = sealReasons.certificate;
  const bad = notVerified(missing);
  const badTest = notVerified({ ...missing, seal_environment: "unchecked" });
  await one("a proof certificate", passport(), live, verified(attached), "Its record is attached.");
  const ofTest = "Record and seal are of the test environment.";
  await one("a test proof certificate", passport({ environment: "test" }), test, verifiedTest(attached), ofTest);
  await one("a proof certificate without its record", {}, live, bad);
  await one("a test proof certificate without its record", {}, test, badTest);
  await one("a proof certificate with a record of another name", { "record.json": asJson(record) }, live, bad);
  await one("a proof certificate with garbage", { "passport.json": Buffer.from("garbage") }, live, bad);
  await one("a proof certificate with a refused record", passport({ format: 2 }), live, bad);
  await one("a proof certificate with a test record", passport({ environment: "test" }), live, bad);
  await one("a proof certificate with a test verdict", passport({ verdict: "verified_test" }), live, bad);
  await one("a test proof certificate with a live record", passport(), test, badTest);

  const { live: real, test: trial } = sealReasons.receipt;
  const ofEvents = (files: Files, changes: object = {}) => ({ ...receiptJson(changes), ...files });
  const broken = notVerified(events("fails"));
  await one("a receipt", ofEvents(EVENT), real, verified(whole), "The events are attached as listed.");
  await one("a test receipt", ofEvents(EVENT, { environment: "test" }), trial, verifiedTest(whole), ofTest);
  const ownWord = "A receipt that lists no event is the service's word alone, and says so.";
  await one("a receipt of no event", receiptJson({ events: [] }), real, verified(events("unchecked")), ownWord);
  await one("a receipt with nothing attached", {}, real, bad);
  await one("a receipt without receipt.json", EVENT, real, bad);
  await one("a receipt of another format", ofEvents(EVENT, { format: "receipt" }), real, bad);
  await one("a receipt of version 2", ofEvents(EVENT, { version: 2 }), real, bad);
  await one("a receipt of another kind", ofEvents(EVENT, { kind: "letter" }), real, bad);
  await one("a receipt without a list of events", ofEvents(EVENT, { events: null }), real, bad);
  await one("a receipt of the test environment, sealed as live", ofEvents(EVENT, { environment: "test" }), real, bad);
  const renamed = { ...listed, file: "event-02.json" };
  await one("a receipt whose events are not numbered", ofEvents(EVENT, { events: [renamed] }), real, bad);
  const unknown = { ...listed, provider: "post" };
  await one("a receipt of a provider that is not known", ofEvents(EVENT, { events: [unknown] }), real, bad);
  const providers = { ...listed, provider: ["telnyx"] };
  await one("a receipt of a list of providers", ofEvents(EVENT, { events: [providers] }), real, bad);
  await one("a receipt of an environment that is not known", ofEvents(EVENT, { environment: "trial" }), real, bad);
  await one("a receipt with an event that is null", ofEvents(EVENT, { events: [null] }), real, bad);
  const unhashed = { ...listed, sha256: "00" };
  await one("a receipt whose event has no hash", ofEvents(EVENT, { events: [unhashed] }), real, bad);
  const many = Array.from({ length: 100 }, (_, index) => ({
    ...listed,
    file: `event-${String(index + 1).padStart(2, "0")}.json`,
  }));
  await one("a receipt of 100 events", ofEvents(EVENT, { events: many }), real, bad);
  const others = { ...EVENT, "event-01.json": text({}) };
  await one("a receipt with another event", ofEvents(others), real, broken);
  const eventAlone = { "event-01.json": event };
  await one("a receipt without the event's headers", ofEvents(eventAlone), real, broken);
  const unsigned = { ...EVENT, "event-01.headers.json": text({}) };
  await one("a receipt whose headers have no signature", ofEvents(unsigned), real, broken);
  const oddSignature = text({ ...headers, "telnyx-signature-ed25519": "AAAA" });
  const oddly = { ...EVENT, "event-01.headers.json": oddSignature };
  await one("a receipt with a signature of another form", ofEvents(oddly), real, broken);
  await one("a receipt without the event", receiptJson(), real, broken);
  await one("a receipt with an event more", ofEvents({ ...EVENT, "event-02.json": event }), real, broken);
  return made();
}
