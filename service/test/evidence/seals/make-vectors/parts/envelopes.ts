import type { JsonObject } from "@signsealship/evidence/manifest";
import { envelopeText, hashOf, instant, orderCode, type Size, verifyCode, type Wrong } from "./envelope-form.ts";
import type { Part } from "./part.ts";

type JsonValue = JsonObject[string];
type Row = readonly [name: string, wrong: Wrong, notHolding: readonly string[]];
type Members = readonly (readonly [name: string, value: JsonValue])[];

const object = (value: JsonValue | undefined): JsonObject => value as JsonObject;
const list = (value: JsonValue | undefined): readonly JsonObject[] => value as readonly JsonObject[];
const changedAt = (all: readonly JsonObject[], index: number, change: JsonObject): JsonObject[] =>
  all.map((one, number) => (number === index ? { ...one, ...change } : one));
const member = (changes: JsonObject): Wrong => ({ evidence: (one) => ({ ...one, ...changes }) });
const inDocument = (changes: JsonObject): Wrong => ({
  evidence: (one) => ({ ...one, document: { ...object(one["document"]), ...changes } }),
});
const inList =
  (name: string) =>
  (index: number, changes: JsonObject): Wrong => ({
    evidence: (one) => ({ ...one, [name]: changedAt(list(one[name]), index, changes) }),
  });
const [inRevision, inSigner, inTrail] = ["revisions", "signers", "trail"].map(inList) as [
  ReturnType<typeof inList>,
  ReturnType<typeof inList>,
  ReturnType<typeof inList>,
];
const inRecord = (index: number, change: JsonObject): Wrong => ({
  records: (records) => changedAt(records, index, change),
});

const hash = hashOf("another");

/** Envelopes that violate the schema, so that they can't be read (docs/evidence-format.md, section 20.1). */
function shapes(): readonly Row[] {
  const row = (name: string, wrong: Wrong): Row => [name, wrong, ["envelope_readable"]];
  const each = (where: string, change: (changes: JsonObject) => Wrong, members: Members): Row[] =>
    members.map(([name, value]) => row(`${where}${name}: ${JSON.stringify(value)}`, change({ [name]: value })));
  const deep = (levels: number): JsonValue => (levels === 0 ? 1 : [deep(levels - 1)]);
  return [
    ...each("", member, [
      ["format", "signsealship-manifest"],
      ["version", 2],
      ["verifyCode", "mfrggzdfmztwq2lknnwg23tpo1"],
      ["verifyCode", [verifyCode]],
      ["orderCode", 7],
      ["orderCode", [orderCode]],
      ["orderCode", orderCode.slice(1)],
      ["environment", "Live"],
      ["more", 1],
      ["document", null],
      ["document", []],
      ["revisions", []],
      ["revisions", {}],
      ["signers", []],
      ["signers", null],
      ["trail", []],
      ["trail", [null]],
      ["trail", [7]],
      ["trail", [[]]],
    ]),
    row("eleven signers", { signers: 11 }),
    row("a list that is an object with a length", member({ signers: { length: 1, 0: {} } })),
    ...each("document.", inDocument, [
      ["originalSha256", "00"],
      ["originalSha256", [hash]],
      ["sealedSha256", hash.toUpperCase()],
      ["bytes", 0],
      ["bytes", "103"],
      ["bytes", 103.5],
    ]),
    ...each("revisions[2].", (changes) => inRevision(2, changes), [
      ["number", 3],
      ["kind", "acted"],
      ["signer", null],
      ["signer", "1"],
      ["bytes", 0],
      ["sha256", "00"],
    ]),
    row("another kind", inRevision(0, { kind: "acted" })),
    row("a signer of the original", inRevision(0, { signer: 1 })),
    ...each("signers[0].", (changes) => inSigner(0, changes), [
      ["n", 2],
      ["name", ""],
      ["name", "x".repeat(501)],
      ["name", ["Signer 1"]],
      ["email", 7],
      ["language", null],
      ["auth", ""],
      ["routing", "1"],
      ["routing", 1.5],
      ["signedAt", "2026-01-15T12:00:01Z"],
      ["signedAt", "2026-13-15T12:00:01.000Z"],
      ["signedAt", [instant(1)]],
    ]),
    ...each("trail[0].", (changes) => inTrail(0, changes), [
      ["at", "2026-01-15"],
      ["at", "2026-02-15T25:00:00.000Z"],
      ["envelope", "mfrggzdfmztwq2lknnwg23tpo"],
      ["event", "Created"],
      ["event", ""],
      ["event", ["created"]],
      ["position", 0],
      ["position", "1"],
      ["previousSha256", "none"],
      ["previousSha256", [hash]],
      ["more", 0.5],
      ["more", 9007199254740992],
      ["more", "\ud800"],
      ["m\u00f6re", 1],
      ["more", deep(62)],
    ]),
  ];
}

/**
 * Envelopes that differ from a good one in one place, and the claims that fail because of that
 * (docs/evidence-format.md, section 20.2).
 */
function claims(): readonly Row[] {
  const begins = ["trail_begins"];
  const seal = ["trail_sealed"];
  const acts = ["acts_recorded"];
  const table = ["revision_table"];
  const size = (number: number, changes: (before: Size) => Partial<Size>): NonNullable<Wrong["sizes"]> => {
    let before: Size = { bytes: 0, sha256: "" };
    return (own, index) => {
      const changed = index === number ? { ...own, ...changes(before) } : own;
      before = changed;
      return changed;
    };
  };
  const dropped = (index: number): Wrong => ({
    evidence: (one) => ({ ...one, revisions: list(one["revisions"]).slice(0, index) }),
  });
  const other = { bytes: 7, sha256: hash };
  return [
    ["one signer", {}, []],
    ["two signers", { signers: 2, by: [2, 1] }, []],
    ["a document that needed no preparation", { sizes: size(1, (before) => before) }, []],
    ["a record of 62 levels", inRecord(0, { more: JSON.parse(`${"[".repeat(61)}1${"]".repeat(61)}`) }), []],
    ["a trail that another event begins", inRecord(0, { event: "made" }), begins],
    ["a trail of another order", inRecord(0, { orderCode: "5f".repeat(20) }), begins],
    ["another original hash", inDocument({ originalSha256: hash }), begins],
    ["another length of the original in the trail", inRecord(0, { document: { ...other, bytes: 100 } }), begins],
    ["no original in the trail", inRecord(0, { document: null }), begins],
    ["a text for the original in the trail", inRecord(0, { document: "original" }), begins],
    ["another preparation in the trail", inRecord(0, { revision: other }), begins],
    [
      "another number of the preparation in the trail",
      inRecord(0, { revision: { bytes: 101, sha256: hashOf("state 1"), number: 2 } }),
      begins,
    ],
    [
      "another length of the preparation in the trail",
      inRecord(0, { revision: { bytes: 102, sha256: hashOf("state 1") } }),
      begins,
    ],
    ["another hash of the preparation in the trail", inRecord(0, { revision: { bytes: 101, sha256: hash } }), begins],
    ["an original that is called prepared", inRevision(0, { kind: "prepared" }), [...begins, ...table]],
    ["a preparation that is called original", inRevision(1, { kind: "original" }), [...begins, ...table]],
    ["another original in the table", inRevision(0, { bytes: 99 }), begins],
    ["a record behind the seal", { records: (all) => [...all, { ...all.at(-1), event: "viewed" }] }, seal],
    ["two seals", { records: (all) => [...all, all.at(-1) ?? {}] }, seal],
    ["no seal", { records: (all) => changedAt(all, all.length - 1, { event: "viewed" }) }, seal],
    ["a seal over another document", inRecord(2, { document: other }), seal],
    ["a seal over nothing", { records: (all) => [...all.slice(0, -1), { event: "sealed" }] }, seal],
    ["another sealed hash", inDocument({ sealedSha256: hash }), seal],
    ["another sealed length", inDocument({ bytes: 104 }), seal],
    ["a seal that is called an act", inRevision(3, { kind: "signed", signer: 1 }), [...seal, ...table]],
    ["a record that states another position", inRecord(1, { position: 3 }), ["trail_chain"]],
    ["a record of another envelope", inRecord(1, { envelope: `${verifyCode.slice(1)}a` }), ["trail_chain"]],
    ["an act of nobody", inRecord(1, { signer: 9 }), acts],
    ["an act at another time", inSigner(0, { signedAt: instant(2) }), acts],
    ["an act by another signer in the table", inRevision(2, { signer: 2 }), acts],
    ["an act on another revision in its record", inRecord(1, { revision: other }), acts],
    ["an act on another revision in itself", { act: { revision: other } }, acts],
    ["an act of another order", { act: { orderCode: "5f".repeat(20) } }, acts],
    ["an act of another envelope", { act: { envelope: `${verifyCode.slice(1)}a` } }, acts],
    ["an act of another name", { act: { signer: { n: 1, name: "Signer 2", email: "1@example.com" } } }, acts],
    ["an act of another address", { act: { signer: { n: 1, name: "Signer 1", email: "2@example.com" } } }, acts],
    ["an act of another number", { act: { signer: { n: 2, name: "Signer 1", email: "1@example.com" } } }, acts],
    ["a record without its act", inRecord(1, { event: "signed", act: null }), [...acts, "act_hashes"]],
    ["a record that has no act", { records: (all) => all.map(({ act: _, ...one }) => one) }, [...acts, "act_hashes"]],
    ["one signer who acts twice", { by: [1, 1] }, acts],
    ["one of two signers who acts twice", { signers: 2, by: [1, 1] }, acts],
    ["one of two signers", { signers: 2 }, acts],
    ["a table without the act", dropped(2), [...seal, ...acts, ...table]],
    ["a table of the original alone", dropped(1), [...begins, ...seal, ...acts, ...table]],
    ["an act that adds nothing", { sizes: size(2, (before) => before) }, table],
    ["an act that takes away", { sizes: size(2, () => ({ bytes: 50 })) }, table],
    ["a preparation of the original's length alone", { sizes: size(1, ({ bytes }) => ({ bytes })) }, table],
    [
      "a preparation of the original's hash, and shorter",
      { sizes: size(1, ({ sha256 }) => ({ sha256, bytes: 50 })) },
      table,
    ],
  ];
}

/** The evidence of envelopes, without documents (docs/evidence-format.md, sections 20.1 and 20.2). */
export const envelopes = (): Part[] =>
  [...claims(), ...shapes()].map(
    ([name, wrong, notHolding]): Part => ({
      name: `envelope: ${name.length > 90 ? `${name.slice(0, 90)} and so on` : name}`,
      kind: "envelope",
      text: envelopeText(wrong),
      expect: notHolding.length === 0 ? "accepted" : "refused",
      notHolding,
      teaches: "The evidence of an envelope has these members, and its trail, acts and table say the same.",
    }),
  );
