import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { sha256Hex } from "@signsealship/evidence/digest";
import { sealReasons } from "@signsealship/evidence/seal";
import { makeZip } from "@signsealship/testing/inputs/zip-maker";
import { withAttachment, withAttachments } from "../../../../packages/evidence/test/seal/closing-pdf.ts";
import { signPdf } from "../../../../packages/evidence/test/seal/signed-pdf.ts";
import { testSigner } from "../../../../packages/evidence/test/signer.ts";
import { render } from "../../../src/pages/ui/render.ts";
import { checkFiles } from "../../../src/pages/verify/browser/check.ts";
import type { VerifyConfig } from "../../../src/pages/verify/browser/config.ts";
import { kindOf } from "../../../src/pages/verify/browser/files.ts";
import type { Outcome } from "../../../src/pages/verify/browser/outcome.ts";
import { bannerOf } from "../../../src/pages/verify/browser/outcome-banner.ts";
import { headlineOf, outcomesView } from "../../../src/pages/verify/browser/outcome-view.ts";
import { type EarlierFacts, shownName } from "../../../src/pages/verify/browser/seal-facts.ts";
import { closingRecord, contract, sealedAt, sealer } from "../ui/samples.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("a dropped file", () => {
  let own: Awaited<ReturnType<typeof sealer>>;
  let sealed: Awaited<ReturnType<typeof own.seal>>;
  before(async () => {
    own = await sealer();
    sealed = await own.seal(contract);
  });

  const config = (changes: Partial<VerifyConfig> = {}): VerifyConfig => ({
    sealCertificates: own.pem,
    firm: null,
    proof: null,
    closing: null,
    ...changes,
  });
  const check = (
    files: { name: string; bytes: Uint8Array }[],
    changes: Partial<VerifyConfig> = {},
  ): Promise<Outcome[]> =>
    checkFiles({
      files,
      config: config(changes),
      trust: { seal: "", timeStamping: "" },
      at: sealedAt.getTime() + 1000,
      subtle: crypto.subtle,
    });
  const verdictOf = ([outcome]: Outcome[]) => (outcome?.kind === "failed" ? outcome.why : outcome?.verdict);

  test("is recognized by its bytes, and a PDF by its name first", () => {
    const zip = makeZip([{ name: "a", bytes: bytesOf("a") }]);
    const kinds: [string, Uint8Array, string][] = [
      ["a.zip", zip, "zip"],
      ["a.PDF", zip, "pdf"],
      ["a", bytesOf("junk %PDF-1.4"), "pdf"],
      ["a", bytesOf(' {"passport":{}}'), "json"],
      ["a", bytesOf(JSON.stringify({ docSha256: "a".repeat(64), sealedSha256: "b".repeat(64) })), "record"],
      ["a", Uint8Array.of(0x30, 0x80), "der"],
      ["a", bytesOf("Dear Sir"), "unknown"],
    ];
    for (const [name, bytes, kind] of kinds) assert.equal(kindOf({ name, bytes }), kind);
  });

  test("that is a zip stands for its files, and an unreadable one fails with a sentence", async () => {
    for (const deflated of [false, true]) {
      const zip = makeZip([{ name: "sealed.pdf", bytes: sealed.bytes, deflated }]);
      assert.equal(verdictOf(await check([{ name: "evidence.zip", bytes: zip }])), "verified");
      const cut = { name: "evidence.zip", bytes: zip.subarray(0, -1) };
      assert.match(verdictOf(await check([cut])) ?? "", /^The zip has .+ Unpack it/);
    }
  });

  test("that is a zip with another PDF is refused as a whole, whatever the other's name", async () => {
    for (const name of ["README.txt", "deed.pdf"]) {
      const zip = makeZip([
        { name: "sealed.pdf", bytes: sealed.bytes },
        { name, bytes: contract },
      ]);
      const outcomes = await check([{ name: "evidence.zip", bytes: zip }]);
      assert.match(verdictOf(outcomes) ?? "", /not its sealed\.pdf/, name);
      assert.equal(outcomes.length, 1);
    }
  });

  test("that is our own evidence zip gives one verdict: its record and its README are not documents", async () => {
    const { docSha256, sealedSha256 } = sealed;
    const zip = (record: object) =>
      makeZip([
        { name: "sealed.pdf", bytes: sealed.bytes },
        { name: "passport.json", bytes: bytesOf(JSON.stringify(record)) },
        { name: "README.md", bytes: bytesOf("# Evidence") },
        { name: "seal-certificates.pem", bytes: bytesOf(own.pem) },
      ]);
    const record = { verifyCode: "a".repeat(26), environment: "live", docSha256, sealedSha256 };
    const outcomes = await check([{ name: "evidence.zip", bytes: zip(record) }]);
    assert.deepEqual([outcomes.length, verdictOf(outcomes)], [1, "verified"]);
    const names = outcomes[0]?.kind === "proof" ? outcomes[0].claims.map(({ name }) => name) : [];
    for (const name of ["record_sealed_hash", "record_document_hash", "certificates_are_the_seals"]) {
      assert.ok(names.includes(name), name);
    }
    for (const bad of [{ ...record, sealedSha256: "0".repeat(64) }, { ...record, format: 2 }, { docSha256 }, []]) {
      assert.equal(verdictOf(await check([{ name: "evidence.zip", bytes: zip(bad) }])), "not_verified");
    }
    const [test] = await check([{ name: "evidence.zip", bytes: zip({ ...record, environment: "test" }) }]);
    assert.match(headlineOf(test ? [test] : []), /A test document/);
  });

  test("of a simulated notarization is called a test, whether or not its certificate is known, and a live one is not", async () => {
    const counts = /a notarized document\. <strong>It is a test: no signature, seal or notarization in it counts/;
    const shown = async (reason: string, changes: Partial<VerifyConfig> = {}) => {
      const { bytes } = await own.seal(contract, reason);
      return render(outcomesView(await check([{ name: "n.pdf", bytes }], changes)));
    };
    const unconfirmed = { sealCertificates: "" };
    const known = await shown(sealReasons.notarized.test);
    assert.match(known, counts);
    assert.match(known, /A test document, unchanged/);
    const unknown = await shown(sealReasons.notarized.test, unconfirmed);
    assert.match(unknown, counts);
    assert.match(unknown, /sealed by whom\?.*says that it is a test, so it means nothing outside of testing/s);
    for (const changes of [{}, unconfirmed]) {
      const live = await shown(sealReasons.notarized.live, changes);
      assert.match(live, /a notarized document/);
      assert.doesNotMatch(live, /is a test/);
    }
  });

  test("that a closing certificate lists is unchanged since then, and its sentences end once", async () => {
    const named = { name: "document_of_this_room", state: "holds", why: "Document 1 of 3." } as const;
    const shown = async (bytes: Uint8Array) => {
      const [found] = await check([{ name: "n.pdf", bytes }]);
      assert.equal(found?.kind, "proof");
      return render(outcomesView([{ ...found, claims: [...found.claims, named] }]));
    };
    const unsealed = await shown(contract);
    assert.match(unsealed, /Since the closing certificate: it lists the hash of these bytes/);
    assert.doesNotMatch(unsealed, /Not checked/);
    const test = await shown((await own.seal(contract, sealReasons.notarized.test)).bytes);
    assert.match(test, /in it counts\.<\/strong> <strong>Document 1 of 3\./);
  });

  test("with two time stamps says which one was not checked: the evidence's own is judged", async () => {
    const stamps = ["a.tst", "timestamp.tst"].map((name) => ({ name, bytes: Uint8Array.of(0x30, 0x00) }));
    const [outcome, second, ...more] = await check([{ name: "a.pdf", bytes: sealed.bytes }, ...stamps]);
    assert.deepEqual([verdictOf(outcome ? [outcome] : []), more.length], ["not_verified", 0]);
    assert.deepEqual(second?.kind === "failed" && second.name, "a.tst");
  });

  test("on the page of a signing, the document that a notary completed afterwards is on record too, and no other one", async () => {
    const proof = { sealedSha256: "1".repeat(64), docSha256: "2".repeat(64) };
    const file = { name: "notarized.pdf", bytes: sealed.bytes };
    const verdict = async (notarizedSha256: string | null) =>
      verdictOf(
        await check([file], {
          proof,
          envelope: { verifyCode: "a".repeat(26), custodyCertSha256: null, notarizedSha256 },
        }),
      );
    assert.equal(await verdict(sealed.sealedSha256), "verified");
    assert.equal(await verdict(null), "not_verified");
    assert.equal(await verdict("3".repeat(64)), "not_verified");
  });

  test("that is only a record proves nothing, not even for the document that it names", async () => {
    const { docSha256, sealedSha256 } = sealed;
    const record = { name: "passport.json", bytes: bytesOf(JSON.stringify({ docSha256, sealedSha256 })) };
    assert.match(verdictOf(await check([record])) ?? "", /together with the one PDF/);
    assert.equal(verdictOf(await check([{ name: "a.pdf", bytes: contract }, record])), "unsigned");
  });

  test("gets an answer, whatever it contains", async () => {
    for (const name of ["README.md", "notes.txt", "a.pem", "a.docx", "a"]) {
      const outcomes = await check([{ name, bytes: bytesOf("Dear Sir") }]);
      assert.deepEqual([outcomes.length, outcomes[0]?.kind], [1, "failed"], name);
      assert.match(verdictOf(outcomes) ?? "", /can’t check this kind of file/, name);
    }
  });

  test("is reported as not a seal of this service when somebody else signed it, and failed when it was changed since", async () => {
    const foreign = { reason: null, originalLength: "absent", unstated: true, signer: testSigner("stranger") } as const;
    const bytes = signPdf(contract, foreign);
    const [sound] = await check([{ name: "a.pdf", bytes }]);
    assert.ok(sound);
    assert.equal(verdictOf([sound]), "not_verified");
    assert.equal(bannerOf(sound).title, "This is not a seal of this service");
    assert.equal(bannerOf(sound).tone, "unknown");
    const changed = Uint8Array.from(bytes);
    changed[20] = (changed[20] ?? 0) ^ 1;
    const [damaged] = await check([{ name: "a.pdf", bytes: changed }]);
    assert.equal(damaged && bannerOf(damaged).title, "This document failed the check");
  });

  test("is refused when it is a receipt or proof certificate without an attachment", async () => {
    for (const reason of [sealReasons.receipt.live, sealReasons.certificate.live]) {
      const { bytes } = await own.seal(contract, reason);
      const [outcome] = await check([{ name: "a.pdf", bytes }]);
      assert.equal(outcome && verdictOf([outcome]), "not_verified");
      const states = outcome?.kind === "proof" ? outcome.claims : [];
      assert.equal(states.find(({ name }) => name === "record_attached")?.state, "fails");
    }
  });

  test("is compared with the proof certificate that names it, dropped with it and others", async () => {
    const file = { name: "s.pdf", bytes: sealed.bytes };
    const record = { verifyCode: "a".repeat(26), environment: "live", docSha256: await sha256Hex(contract) };
    const certificateOf = async (sealedSha256: string) => {
      const attached = bytesOf(JSON.stringify({ ...record, sealedSha256 }));
      const page = Buffer.from(withAttachments({ "passport.json": attached }));
      return { name: "c.pdf", bytes: (await own.seal(page, sealReasons.certificate.live)).bytes };
    };
    const certificate = await certificateOf(await sha256Hex(sealed.bytes));
    const other = { name: "o.pdf", bytes: (await own.seal(Buffer.from(sealed.bytes))).bytes };
    const stateOf = async (files: { name: string; bytes: Uint8Array }[]) => {
      const outcome = (await check(files)).find((one) => one.kind === "proof" && one.name === "c.pdf");
      const claims = outcome?.kind === "proof" ? outcome.claims : [];
      return [outcome && verdictOf([outcome]), claims.find(({ name }) => name === "record_sealed_hash")?.state];
    };
    assert.deepEqual(await stateOf([certificate]), ["verified", undefined]);
    assert.deepEqual(await stateOf([other, certificate, file]), ["verified", "holds"]);
    assert.deepEqual(await stateOf([certificate, other]), ["not_verified", "fails"]);
  });

  test("is verified with a known certificate, intact without one, and refuted when changed", async () => {
    const file = { name: "a.pdf", bytes: sealed.bytes };
    assert.equal(verdictOf(await check([file])), "verified");
    assert.equal(verdictOf(await check([file], { sealCertificates: "" })), "intact");
    const changed = Buffer.from(sealed.bytes);
    changed.writeUInt8((changed[700] ?? 0) ^ 1, 700);
    assert.equal(verdictOf(await check([{ name: "a.pdf", bytes: changed }])), "not_verified");
    assert.equal(
      verdictOf(await check([{ name: "a.pdf", bytes: Buffer.concat([sealed.bytes, bytesOf("\n")]) }])),
      "not_verified",
    );
  });

  test("is compared with a record, before and after its seal", async () => {
    const { docSha256, sealedSha256 } = sealed;
    const proof = { docSha256, sealedSha256 };
    assert.equal(verdictOf(await check([{ name: "a.pdf", bytes: sealed.bytes }], { proof })), "verified");
    assert.equal(verdictOf(await check([{ name: "a.pdf", bytes: contract }], { proof })), "handed_in");
    const again = await own.seal(contract, sealReasons.proof.test);
    assert.equal(verdictOf(await check([{ name: "a.pdf", bytes: again.bytes }], { proof })), "not_verified");
  });

  test("of one closing version is combined with its pair, and a second manifest of the same version is not ignored", async () => {
    const { versions } = await closingRecord(2);
    const [first, second] = versions.map(({ manifestText }) => bytesOf(manifestText ?? ""));
    assert.ok(first && second);
    const { bytes } = await own.seal(Buffer.from(withAttachment(second)), sealReasons.closing.live);
    const [v1, v2] = [
      { name: "v1.json", bytes: first },
      { name: "v2.json", bytes: second },
    ];
    const certificate = { name: "v2.pdf", bytes };
    assert.equal(verdictOf(await check([certificate])), "verified");
    assert.equal(verdictOf(await check([v1, certificate, v2])), "verified");
    assert.equal(verdictOf(await check([v1, v2])), "unsigned");
    assert.equal(verdictOf(await check([certificate, v2, v2])), "not_verified");
    const live = await own.seal(Buffer.from(withAttachment(first)), sealReasons.closing.live);
    const test = await own.seal(Buffer.from(withAttachment(second)), sealReasons.closing.test);
    const mixed = await check([
      { name: "v1.pdf", bytes: live.bytes },
      { name: "v2.pdf", bytes: test.bytes },
    ]);
    assert.match(headlineOf(mixed), /A test certificate/);
    const changed = { name: "v1.json", bytes: bytesOf(Buffer.from(first).toString().replace("Deed", "Dead")) };
    assert.equal(verdictOf(await check([changed, certificate])), "not_verified");
    const proofSeal = await own.seal(Buffer.from(withAttachment(second)));
    assert.equal((await check([{ name: "a.pdf", bytes: proofSeal.bytes }]))[0]?.kind, "proof");
  });

  test("of one closing version is described by its own seal and number, whatever the page and other files list", async () => {
    const { versions } = await closingRecord(2);
    const sealedEarlier = async (index: number, hours: number) => {
      const manifest = Buffer.from(withAttachment(bytesOf(versions[index]?.manifestText ?? "")));
      const at = new Date(sealedAt.getTime() - hours * 3_600_000);
      const { bytes } = await own.seal(manifest, sealReasons.closing.live, at);
      return { name: `v${index + 1}.pdf`, bytes };
    };
    const [first, second] = [await sealedEarlier(0, 2), await sealedEarlier(1, 1)];
    const described = async (files: { name: string; bytes: Uint8Array }[], changes: Partial<VerifyConfig> = {}) => {
      const [outcome] = await check(files, changes);
      assert.ok(outcome?.kind === "closing" && outcome.seal);
      return [outcome.version, (sealedAt.getTime() - (outcome.seal.at ?? 0)) / 3_600_000];
    };
    assert.deepEqual(await described([second, first]), [2, 1]);
    assert.deepEqual(await described([first, second]), [2, 1]);
    const { roomCode } = JSON.parse(versions[0]?.manifestText ?? "").passport;
    const recorded = await Promise.all(
      [first, second].map(async ({ bytes }, index) => ({
        version: index + 1,
        manifest: versions[index]?.manifestText ?? null,
        manifestSha256: versions[index]?.manifestSha256 ?? "",
        sealedSha256: await sha256Hex(bytes),
      })),
    );
    const closing = { roomCode, version: 2, versions: recorded };
    assert.deepEqual(await described([first], { closing }), [1, 2]);
  });

  test("that is a room's saved answer is judged with the certificate of its version", async () => {
    const { versions } = await closingRecord(1);
    const [own_] = versions;
    assert.ok(own_?.manifestText);
    const manifest = bytesOf(own_.manifestText);
    const { bytes } = await own.seal(Buffer.from(withAttachment(manifest)), sealReasons.closing.live);
    const record = {
      manifest: JSON.parse(own_.manifestText),
      manifestSha256: await sha256Hex(manifest),
      sealedSha256: await sha256Hex(bytes),
      version: 1,
      chainOk: true,
    };
    const dropped = (changes: object) => [
      { name: "v1.pdf", bytes },
      { name: "answer.json", bytes: bytesOf(JSON.stringify({ ...record, ...changes })) },
    ];
    assert.equal(verdictOf(await check(dropped({}))), "verified");
    const { passport } = record.manifest;
    const forged = { manifest: { ...record.manifest, passport: { ...passport, roomName: "Another" } } };
    const [, answer] = dropped({});
    assert.ok(answer);
    assert.equal(verdictOf(await check([...dropped(forged), { ...answer, name: "b.json" }])), "not_verified");
    assert.equal(verdictOf(await check([answer, ...dropped(forged)])), "not_verified");
    assert.equal(verdictOf(await check([answer, ...dropped({})])), "verified");
    const known = {
      version: 1,
      manifest: null,
      manifestSha256: record.manifestSha256,
      sealedSha256: record.sealedSha256,
    };
    const closing = { roomCode: passport.roomCode, version: 1, versions: [known] };
    assert.equal(verdictOf(await check(dropped({}), { closing })), "verified");
    assert.equal(verdictOf(await check(dropped(forged), { closing })), "not_verified");
    for (const bad of [{ sealedSha256: "0".repeat(64) }, { chainOk: false }, { chainOk: 1 }, { version: 2 }]) {
      assert.equal(verdictOf(await check(dropped(bad))), "not_verified", JSON.stringify(bad));
    }
  });

  test("that is junk, with junk certificates, fails with a sentence, not with an exception", async () => {
    const outcomes = await checkFiles({
      files: [{ name: "junk.bin", bytes: bytesOf("junk") }],
      config: config(),
      trust: { seal: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", timeStamping: "nothing" },
      at: 0,
      subtle: crypto.subtle,
    });
    assert.equal(outcomes.length, 3);
    assert.ok(outcomes.every(({ kind }) => kind === "failed"));
  });

  test("is shown with every name escaped", async () => {
    const outcomes = await check([{ name: "<img src=x onerror=alert(1)>.pdf", bytes: sealed.bytes }]);
    assert.doesNotMatch(render(outcomesView(outcomes)), /<img/);
    assert.match(headlineOf(outcomes), /unchanged since it was sealed/);
  });

  test("shows no signer's name without visible characters, and only the beginning of a very long one", () => {
    assert.equal(shownName("Jane Doe"), "Jane Doe");
    for (const blank of ["", " ", "\u3164\u2800"]) assert.equal(shownName(blank), null);
    assert.equal(shownName("x".repeat(5_000)), `${"x".repeat(120)}…`);
  });

  test("names earlier signers as their signatures do, separate from the page's own words, and never a time stamp", async () => {
    const [outcome] = await check([{ name: "a.pdf", bytes: sealed.bytes }]);
    assert.ok(outcome?.kind === "proof");
    const signature = (changes: Partial<EarlierFacts>): EarlierFacts => ({
      claims: [],
      by: "Eve",
      at: null,
      state: "holds",
      isTimeStamp: false,
      ...changes,
    });
    const shown = (...earlier: EarlierFacts[]) => render(outcomesView([{ ...outcome, earlier }]));
    const page = shown(signature({ by: "שרה <b>" }), signature({ state: "unchecked" }), signature({ state: "fails" }));
    assert.match(page, /<bdi>שרה &lt;b&gt;<\/bdi>.* Intact\./);
    assert.match(page, /<bdi>Eve<\/bdi>.* Not judged: .*<bdi>Eve<\/bdi>.* Did not pass: /s);
    assert.match(page, /this page has not checked who made them\./);
    assert.doesNotMatch(shown(signature({ by: "A time-stamping authority", isTimeStamp: true })), /class="signature"/);
  });
});
