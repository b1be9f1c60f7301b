import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { brotliDecompressSync } from "node:zlib";
import { type OfficeForm, officeForms, type Place } from "@signsealship/testing/inputs/office-forms";
import { openWithPdfJs } from "../../../../src/kernel/pdf/pdf-js.ts";
import { readContent } from "../../../../src/kernel/pdf/proposals/content.ts";
import { type Proposal, proposeAll } from "../../../../src/kernel/pdf/proposals/propose.ts";

/** For one form: the found places, the missed places, and the proposals without a place. */
interface Score {
  found: Place[];
  missed: Place[];
  wrong: (Proposal & { page: number })[];
}

async function proposalsOf(pdf: Buffer, of: "signers" | "witnesses" = "signers") {
  const { opening, OPS } = await openWithPdfJs(pdf);
  try {
    const document = await opening.promise;
    const all: Score["wrong"] = [];
    for (let page = 1; page <= document.numPages; page++)
      for (const proposal of proposeAll(await readContent(await document.getPage(page), OPS))[of])
        all.push({ ...proposal, page });
    return all;
  } finally {
    await opening.destroy();
  }
}

/**
 * True if a proposal is good enough that a person would not move it: it is on the place's line, and covers most of the
 * place's width.
 */
function isAt(place: Place, { page, kind, rect }: Score["wrong"][number]): boolean {
  const shared = (from: "x" | "y", size: "width" | "height") =>
    Math.min(place.rect[from] + place.rect[size], rect[from] + rect[size]) - Math.max(place.rect[from], rect[from]);
  const width = shared("x", "width");
  return (
    place.page === page &&
    place.type === kind &&
    width >= 0.6 * Math.min(place.rect.width, rect.width) &&
    width >= 0.5 * Math.min(rect.width, 200) &&
    shared("y", "height") >= 0.5 * Math.min(place.rect.height, rect.height)
  );
}

async function scoreOf({ pdf, places }: OfficeForm, isScored: (kind: string) => boolean): Promise<Score> {
  const wrong = (await proposalsOf(pdf)).filter(({ kind }) => isScored(kind));
  const found: Place[] = [];
  const missed: Place[] = [];
  for (const place of places) {
    const at = wrong.findIndex((proposal) => isAt(place, proposal));
    if (at >= 0) wrong.splice(at, 1);
    (at >= 0 ? found : missed).push(place);
  }
  return { found, missed, wrong };
}

/**
 * True if a place is for a witness, a notary or nobody. The service never asks a signer to fill it, so a proposal there
 * is wrong.
 */
const isOthers = ({ role }: Place): boolean => /^(?:witness|testigo|notary|nobody)$/.test(role);

/**
 * True if a place is a spare line for a signer. Also true if a place is for somebody who does not sign the form (sets e
 * to j). A page does not name its signers, so a proposal there is neither required nor wrong.
 */
const isSpare = ({ role }: Place): boolean => /^(?:outsider|spare)$/.test(role);

const inputs = import.meta.resolve("@signsealship/testing/inputs/office-forms");

/** Sets c to j contain files of several typesetting programs, so they are read from PDFs instead of being drawn here. */
function formsOf(set: string): OfficeForm[] {
  if (set === "a" || set === "b") return officeForms(new URL(`office-forms/${set}.txt`, inputs));
  const json = brotliDecompressSync(readFileSync(new URL(`office-forms/${set}.json.br`, inputs))).toString("utf8");
  const forms = JSON.parse(json) as (Omit<OfficeForm, "pdf"> & { pdf: string })[];
  return forms.map((form) => ({ ...form, pdf: Buffer.from(form.pdf, "latin1") }));
}

/** For each set: the minimum of found places, and the maximum of wrong proposals. */
for (const [set, min, maxWrong] of [
  ["a", { signature: 71, initials: 19, date: 45 }, 0],
  ["b", { signature: 67, initials: 10, date: 42 }, 0],
  ["c", { signature: 94, initials: 30, date: 58 }, 2],
  ["d", { signature: 72, initials: 40, date: 55 }, 1],
  ["e", { signature: 91, initials: 60, date: 49 }, 6],
  ["f", { signature: 83, initials: 41, date: 42 }, 3],
  ["g", { signature: 91, initials: 37, date: 44 }, 3],
  ["h", { signature: 72, initials: 12, date: 39 }, 1],
  ["i", { signature: 100, initials: 74, date: 53 }, 8],
  ["j", { signature: 91, initials: 43, date: 54 }, 5],
] as const)
  describe(`set ${set} of the forms of offices:`, () => {
    // Sets c to j do not list the places for names.
    const isScored = (kind: string) => set === "a" || set === "b" || kind in min;
    const scores = Promise.all(formsOf(set).map((form) => scoreOf(form, isScored)));

    for (const [type, count] of Object.entries(min))
      test(`finds at least ${count} of the places for ${type}`, async () => {
        const all = await scores;
        const isAsked = (place: Place) => place.type === type && !isOthers(place) && !isSpare(place);
        const found = all.flatMap((score) => score.found).filter(isAsked).length;
        const missed = all.flatMap((score) => score.missed).filter(isAsked).length;
        console.log(`set ${set}, ${type}: ${found} of ${found + missed} found`);
        assert.ok(found >= count, `${found} were found`);
      });

    test(`makes at most ${maxWrong} wrong proposals`, async () => {
      const all = await scores;
      const found = all.flatMap((score) => score.found);
      const wrong = all.flatMap((score) => score.wrong).length + found.filter(isOthers).length;
      const count = found.length + all.flatMap((score) => score.wrong).length;
      console.log(`set ${set}, wrong: ${wrong} of ${count} proposals`);
      assert.ok(wrong <= maxWrong, `${wrong} of ${count} are wrong`);
    });
  });

test("finds the lines of witnesses apart from those of the signers, and takes nobody else's line for one of them", async () => {
  let [found, all] = [0, 0];
  const wrong: string[] = [];
  for (const { pdf, places } of [..."abcdefghij"].flatMap(formsOf)) {
    const proposals = (await proposalsOf(pdf, "witnesses")).filter(({ kind }) => kind === "signature");
    const theirs = places.filter(({ type, role }) => type === "signature" && /^(?:witness|testigo)$/.test(role));
    all += theirs.length;
    found += theirs.filter((place) => proposals.some((proposal) => isAt(place, proposal))).length;
    const others = places.filter((place) => !isSpare(place) && !theirs.includes(place));
    for (const proposal of proposals) if (others.some((place) => isAt(place, proposal))) wrong.push(proposal.words);
    assert.ok(proposals.every(({ role }) => role === "Witness"));
  }
  console.log(`witnesses: ${found} of ${all} found`);
  assert.ok(found >= 54, `${found} of ${all} were found`);
  assert.deepEqual(wrong, []);
});
