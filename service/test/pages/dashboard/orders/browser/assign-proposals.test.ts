import assert from "node:assert/strict";
import { test } from "node:test";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { openWithPdfJs } from "../../../../../src/kernel/pdf/pdf-js.ts";
import { readContent } from "../../../../../src/kernel/pdf/proposals/content.ts";
import {
  assign,
  forOne,
  ofOthers,
  openAssign,
  rolesOnPages,
} from "../../../../../src/pages/dashboard/orders/browser/proposals/assign.ts";
import { containsTag, type ProposalOnPage } from "../../../../../src/pages/dashboard/orders/browser/proposals/found.ts";
import {
  lastRole,
  placesFor,
  rolesOf,
  withRoles,
} from "../../../../../src/pages/dashboard/orders/browser/proposals/roles.ts";

type Kind = ProposalOnPage["kind"];
const signers = (...names: string[]) => names.map((name, index) => ({ row: index + 1, name }));
const place = (kind: Kind, x: number, y: number, near: string[] = [], page = 1): ProposalOnPage => ({
  kind,
  page,
  near,
  rect: { x, y, width: kind === "initials" ? 40 : 160, height: 24 },
  options: [],
  label: "",
  words: "",
  role: null,
  reason: "label_left",
  confidence: "high",
});
/** For each place, the row of the signer whom `assign` chose; 0 for none. */
const rowsOf = (places: ProposalOnPage[], people: ReturnType<typeof signers>) => {
  const rows = assign(places, people);
  return places.map((each) => rows.get(each) ?? 0);
};

test("a signature is for the signer whose name is nearest, and so are its date and its initials", () => {
  const places = [
    place("signature", 72, 100, ["Jane Q. Roe", "Max Doe"]),
    place("date", 300, 100, ["Date:"]),
    place("initials", 72, 150),
    place("signature", 72, 300, ["MAX DOE, an unmarried man", "Jane Q. Roe"]),
    place("date", 72, 340),
  ];
  assert.deepEqual(rowsOf(places, signers("Max Doe", "Jane Roe")), [2, 2, 2, 1, 1]);
});

test("of two columns each has its own signer", () => {
  const places = [
    place("signature", 72, 100, ["Jane Roe"]),
    place("date", 230, 100),
    place("signature", 330, 100, ["Max Doe"]),
    place("date", 480, 100),
    place("name", 72, 140),
    place("name", 330, 140),
  ];
  assert.deepEqual(rowsOf(places, signers("Jane Roe", "Max Doe")), [1, 1, 2, 2, 1, 2]);
});

test("a row of initials with a place for each signer is in the order of the signers", () => {
  const row = [520, 420, 470].map((x) => place("initials", x, 700));
  assert.deepEqual(rowsOf(row, signers("A One", "B Two", "C Three")), [3, 1, 2]);
  assert.deepEqual(rowsOf(row, signers("A One", "B Two")), [0, 0, 0]);
});

test("initials next to each other are for different people, and those of a seller and a buyer for theirs", () => {
  const of = (role: string, each: ProposalOnPage): ProposalOnPage => ({ ...each, role });
  const row = [place("initials", 72, 400), place("initials", 300, 400)];
  const people = signers("Mark Lee", "Ana Ortega");
  const lines = [place("signature", 72, 100, ["Ana Ortega"]), place("signature", 72, 300, ["Mark Lee"])] as const;
  assert.deepEqual(rowsOf([...lines, ...row], people), [2, 1, 1, 2], "in the order of the signers");
  const [first, second] = row as [ProposalOnPage, ProposalOnPage];
  const roles = [of("buyer", first), of("seller", second)];
  assert.deepEqual(rowsOf([...lines, ...roles], people), [2, 1, 0, 0], "nothing says who buys");
  const known = [of("buyer", lines[0]), of("seller", lines[1])];
  assert.deepEqual(rowsOf([...known, ...roles], people), [2, 1, 2, 1]);
  const date = of("buyer", place("date", 72, 340));
  assert.deepEqual(rowsOf([...known, date], people), [2, 1, 2], "the buyer's date below the seller's line");
});

test("a line with the name of somebody who does not sign the document is left out with what belongs to it", () => {
  const own = [place("signature", 72, 100, ["Ana Ortega"]), place("date", 300, 100)];
  const others = [place("signature", 72, 300, ["Mark Lee"]), place("date", 300, 300)];
  const people = signers("Mark Lee", "Ana Ortega");
  assert.deepEqual([...ofOthers([...own, ...others], people, people.slice(1))], others);
  assert.deepEqual([...ofOthers([...own, ...others], people, people)], []);
  assert.deepEqual([...ofOthers([place("signature", 72, 100)], people, people.slice(1))], [], "nobody's name");
});

test("lines that differ in nothing are in the order of the signers, and those of a seller and a buyer are for nobody", () => {
  const lines = [
    place("signature", 72, 300),
    place("date", 300, 301),
    place("signature", 72, 100),
    place("date", 300, 100),
  ];
  assert.deepEqual(rowsOf(lines, signers("Jane Roe", "Max Doe")), [2, 2, 1, 1]);
  assert.deepEqual(rowsOf(lines, signers("Jane Roe", "Max Doe", "Ann Lee")), [0, 0, 0, 0]);
  const named = [place("signature", 72, 100), place("signature", 72, 300, ["Jane Roe"])];
  assert.deepEqual(rowsOf(named, signers("Jane Roe", "Max Doe")), [2, 1]);
  const parties = ["seller", "buyer"].map((role, index) => ({ ...place("signature", 72, 100 + 200 * index), role }));
  assert.deepEqual(rowsOf(parties, signers("Jane Roe", "Max Doe")), [0, 0]);
});

test("a place is for nobody where the page names nobody, several at once, or two signers of one name", () => {
  const near = (text: string) => [place("signature", 72, 100, [text])];
  const couple = signers("Jane Roe", "John Roe");
  assert.deepEqual(rowsOf(near("Seller"), couple), [0]);
  assert.deepEqual(rowsOf(near("Jane Roe and John Roe"), couple), [0]);
  assert.deepEqual(rowsOf(near("Janet Roe"), couple), [0]);
  assert.deepEqual(rowsOf(near("Jane Roe"), signers("Jane Roe", "Jane Roe")), [0]);
  assert.deepEqual(rowsOf(near("Jane Roe"), signers("jane.roe@example.com", "Roe")), [0]);
  assert.deepEqual(rowsOf(near("Jane Roe"), signers("Jane Roe")), [0], "one signer signs everywhere anyhow");
});

test("one click gives a signer no place whose words name another party or signer, and no initials next to others", () => {
  const of = (role: string | null, each: ProposalOnPage): ProposalOnPage => ({ ...each, role });
  const people = signers("Sam Seller", "Bea Buyer");
  const freeOf = (
    places: readonly ProposalOnPage[],
    row: number,
    who = people,
    chosen: [ProposalOnPage, number][] = [],
  ) =>
    forOne(row, { proposals: places, owners: new Map([...assign(places, who), ...chosen]), signers: who }).map((each) =>
      places.indexOf(each),
    );
  const places = [
    of("Seller", place("signature", 72, 100, ["Sam Seller"])),
    of("Buyer", place("signature", 330, 100, ["Bea Buyer"])),
    of("Guarantor", place("signature", 72, 400)),
    place("date", 72, 440),
    of("Seller", place("signature", 72, 100, [], 2)),
    place("initials", 72, 700, [], 3),
    place("initials", 300, 700, [], 3),
    place("initials", 300, 750, [], 4),
    place("text", 72, 100, ["Bea Buyer"], 5),
    place("text", 72, 100, [], 6),
  ];
  const owned = assign(places, people);
  assert.deepEqual(
    freeOf(places, 1),
    [4, 7, 9].filter((n) => !owned.has(places[n] as ProposalOnPage)),
  );
  assert.ok(!freeOf(places, 2).some((n) => [2, 3, 4, 5, 6].includes(n)));
  const lines = ["Seller", "Buyer"].map((role, n) => of(role, place("signature", 72, 100 + 200 * n)));
  const [first, second] = lines as [ProposalOnPage, ProposalOnPage];
  const alone = signers("Sam Seller");
  assert.deepEqual(freeOf(lines, 1, alone), [], "the page does not say whose of the two he is");
  assert.deepEqual(freeOf([first], 1, alone), [0]);
  assert.deepEqual(freeOf(lines, 2, people, [[first, 1]]), [1], "the sender chose the seller's");
  assert.deepEqual(freeOf(lines, 1, people, [[first, 1]]), []);
  assert.deepEqual(freeOf([second], 1), [], "it may be of either of them");
});

const of = (role: string | null, each: ProposalOnPage): ProposalOnPage => ({ ...each, role });
const as = (row: number, name: string, role: string) => ({ row, name, role });

test("places whose words name a role are for the signer of that role, on every page, and no others", () => {
  const places = [
    of("Seller", place("initials", 72, 700, [], 1)),
    of("Buyer", place("initials", 300, 700, [], 1)),
    of("Seller", place("signature", 72, 100, [], 2)),
    place("date", 300, 100, [], 2),
    of("Buyer", place("signature", 72, 300, [], 2)),
    of("Buyer", place("name", 72, 340, [], 2)),
    of("Buyer's agent", place("signature", 72, 500, [], 2)),
    of("Buyers", place("initials", 72, 700, [], 3)),
    place("initials", 72, 100, [], 4),
  ];
  const both = [as(1, "Ann Lee", "Buyer"), as(2, "Ben Ray", "Seller")];
  assert.deepEqual(rowsOf(places, both), [2, 1, 2, 2, 1, 1, 0, 1, 0]);
  const one = [as(1, "Ann Lee", "Buyer"), { row: 2, name: "Ben Ray" }];
  assert.deepEqual(rowsOf(places, one), [0, 1, 0, 0, 1, 1, 0, 1, 0], "nothing says who sells");
  assert.deepEqual(rowsOf(places, [as(1, "Ann Lee", "Buyer")]), [0, 1, 0, 0, 1, 1, 0, 1, 0], "the only signer");
  assert.deepEqual(
    rowsOf(places, [as(1, "Ann Lee", "Tenant"), as(2, "Ben Ray", "Guarantor")]),
    places.map(() => 0),
  );
});

test("signers of one role share its lines in their order, and spare lines of a role stay free", () => {
  const lines = [100, 200].map((y) => of("Buyer", place("signature", 72, y)));
  const dates = [100, 200].map((y) => place("date", 300, y));
  const [ann, ben, sam] = [as(1, "Ann Lee", "Buyer"), as(2, "Ben Ray", "Buyer"), as(3, "Sam Fox", "Seller")];
  assert.deepEqual(rowsOf([...lines, ...dates], [ann, ben, sam]), [1, 2, 1, 2]);
  assert.deepEqual(rowsOf([...lines, ...dates], [ann, sam]), [1, 0, 1, 0]);
  assert.deepEqual(rowsOf(lines.slice(0, 1), [ann, ben, sam]), [0], "either of the two may sign it");
  const initials = [72, 130].map((x) => of("Buyer", place("initials", x, 700)));
  assert.deepEqual(rowsOf(initials, [ann, ben, sam]), [1, 2]);
  assert.deepEqual(rowsOf(initials, [ann, sam]), [1, 0]);
});

test("a name at a line of another role than the signer's gives nobody the line", () => {
  const line = of("Seller", place("signature", 72, 100, ["Ann Lee"]));
  assert.deepEqual(rowsOf([line], [as(1, "Ann Lee", "Buyer"), as(2, "Ben Ray", "Guarantor")]), [0]);
  assert.deepEqual(rowsOf([line], [as(1, "Ann Lee", "Seller"), as(2, "Ben Ray", "Buyer")]), [1]);
});

test("a signer's role is known from the lines with the signer's name, unless several signers have such lines", () => {
  const people = signers("Ann Lee", "Ben Ray");
  const ann = of("Buyer", place("signature", 72, 100, ["Ann Lee"]));
  const ben = (role: string) => of(role, place("signature", 72, 300, ["Ben Ray"]));
  assert.deepEqual(
    [...rolesOnPages([ann, ben("Seller")], people)],
    [
      [1, "Buyer"],
      [2, "Seller"],
    ],
  );
  assert.deepEqual([...rolesOnPages([ann, ben("Buyers")], people)], []);
  const twice = of("Guarantor", place("signature", 72, 500, ["Ann Lee"]));
  assert.deepEqual([...rolesOnPages([ann, twice], people)], []);
});

test("roles come from the sender, then from a template, then from the pages, and the last one goes to the last signer", () => {
  const all = [
    of("Seller", place("signature", 72, 100, ["Ann Lee"])),
    of("Buyer", place("initials", 72, 300)),
    of("Broker", place("date", 72, 400)),
  ];
  const roles = rolesOf(all);
  assert.deepEqual(roles, ["Seller", "Buyer"]);
  const known = (chosen: Record<string, string>) => ({
    all: () => all,
    chosenRole: ({ name }: { name: string }) => chosen[name],
  });
  const people = signers("Ann Lee", "Ben Ray");
  const rolesWith = (chosen: Record<string, string>, who: Parameters<typeof withRoles>[1] = people) =>
    withRoles(known(chosen), who).map(({ role }) => role);
  assert.deepEqual(rolesWith({}), ["Seller", undefined]);
  assert.deepEqual(rolesWith({ "Ann Lee": "Buyer" }), ["Buyer", undefined]);
  assert.deepEqual(rolesWith({ "Ann Lee": "" }), [undefined, undefined]);
  const template = signers("Buyer 1", "Lender").map((each) => ({ ...each, isRole: true }));
  assert.deepEqual(rolesWith({}, template), ["Buyer", undefined]);
  assert.deepEqual(lastRole(roles, withRoles(known({}), people)), { signer: people[1], role: "Buyer" });
  assert.equal(lastRole([...roles, "Broker"], withRoles(known({}), people)), null, "two roles are left");
  assert.equal(lastRole(roles, people), null, "two signers are left");
});

test("a signer is proposed for the role that only this signer's name has, unless somebody else has the role", () => {
  const all = ["Seller", "Buyer"].map((role, n) => of(role, place("signature", 72, 100 + 200 * n)));
  const rolesWith = (names: string[], chosen: Record<string, string> = {}) =>
    withRoles({ all: () => all, chosenRole: ({ name }) => chosen[name] }, signers(...names)).map(({ role }) => role);
  assert.deepEqual(rolesWith(["Sam Seller", "Ann Lee"]), ["Seller", undefined]);
  assert.deepEqual(rolesWith(["Ben BUYER", "Sam Seller-Lee"]), ["Buyer", "Seller"]);
  assert.deepEqual(rolesWith(["Sam Seller", "Sue Seller"]), [undefined, undefined], "both names have it");
  assert.deepEqual(rolesWith(["Buyer Seller", "Ann Lee"]), [undefined, undefined], "the name has both");
  assert.deepEqual(rolesWith(["Sam Sellers", "Ann Bestseller"]), [undefined, undefined], "only whole words");
  assert.deepEqual(rolesWith(["Sam Seller", "Ann Lee"], { "Ann Lee": "Seller" }), [undefined, "Seller"]);
  assert.deepEqual(rolesWith(["Sam Seller", "Ann Lee"], { "Sam Seller": "" }), [undefined, undefined]);
  assert.deepEqual(rolesWith(["Sam Seller", "Ann Lee"], { "Sam Seller": "Buyer" }), ["Buyer", undefined]);
});

test("one click gives a signer with a role only places of that role and places without one", () => {
  const places = ["Seller", "Buyer", null].map((role, n) => of(role, place("text", 72, 100 * n, [], n + 1)));
  const who = [as(1, "Ann Lee", "Buyer"), { row: 2, name: "Ben Ray" }];
  const freeOf = (row: number) =>
    forOne(row, { proposals: places, owners: new Map(), signers: who }).map((each) => places.indexOf(each));
  assert.deepEqual(freeOf(1), [1, 2]);
  assert.deepEqual(freeOf(2), [2]);
});

test("the lines of witnesses are for signers who sign as witnesses, who get no other line", () => {
  const lines = [place("signature", 72, 100), of("Buyer", place("signature", 72, 200))];
  const theirs = [of("Witness", place("signature", 72, 300)), of("Witness", place("date", 300, 300))];
  const tom = as(2, "Tom Fay", "Witness");
  const ann = { row: 1, name: "Ann Lee" };
  assert.deepEqual(rowsOf([...lines, ...theirs], [ann, tom]), [0, 0, 2, 2]);
  assert.deepEqual(rowsOf(theirs, [ann, { row: 2, name: "Tom Fay" }]), [0, 0], "nobody is a witness");
  assert.deepEqual(rowsOf([lines[0] as ProposalOnPage, ...theirs], [ann, tom]), [1, 2, 2], "the only other signer");
  const second = of("Witness", place("signature", 72, 400));
  assert.deepEqual(rowsOf([...theirs, second], [ann, tom]), [2, 2, 0], "a second witness is not the buyer");
  const all = [...lines, ...theirs];
  const freeOf = (row: number) => forOne(row, { proposals: all, owners: new Map(), signers: [ann, tom] });
  assert.deepEqual(freeOf(2), theirs);
  assert.ok(!freeOf(1).some((each) => theirs.includes(each)));
  const known = { all: (isWitnessed = false) => (isWitnessed ? all : lines), chosenRole: () => undefined };
  assert.deepEqual(placesFor(known, [ann]), lines);
  assert.deepEqual(placesFor(known, [ann, tom]), all);
  assert.equal(lastRole(["Seller", "Witness"], [as(1, "Ann Lee", "Seller"), { row: 2, name: "Tom Fay" }]), null);
});

test("middle names may be absent or initials, but differ between people", () => {
  const near = (text: string) => [place("signature", 72, 100, [text])];
  const people = signers("Jane Anne Roe", "Jane B. Roe");
  assert.deepEqual(rowsOf(near("Jane A. Roe"), people), [1]);
  assert.deepEqual(rowsOf(near("JANE BETH ROE"), people), [2]);
  assert.deepEqual(rowsOf(near("Jane Roe"), people), [0]);
});

test("a signature on another page gives a date no signer", () => {
  const places = [place("signature", 72, 100, ["Jane Roe"], 1), place("date", 300, 100, [], 2)];
  assert.deepEqual(rowsOf(places, signers("Jane Roe", "Max Doe")), [1, 0]);
});

test("signers are assigned again once a place or a signer's name has changed, and not otherwise", () => {
  const assigned = openAssign();
  const places = [place("signature", 72, 100, ["Jane Roe"])];
  const first = assigned(places, signers("Jane Roe", "Max Doe"));
  assert.equal(assigned(places, signers("Jane Roe", "Max Doe")), first);
  assert.deepEqual([...assigned(places, signers("Max Doe", "Jane Roe")).values()], [2]);
  assert.equal(assigned([...places, place("date", 300, 100)], signers("Max Doe", "Jane Roe")).size, 2);
});

test("the beginning of a tag is found although it is split over runs of text, and no tag in single braces", async () => {
  const tagIn = async (content: string) => {
    const { opening, OPS } = await openWithPdfJs(makePdf({ content }));
    try {
      const page = await (await opening.promise).getPage(1);
      return containsTag((await readContent(page, OPS)).runs);
    } finally {
      await opening.destroy();
    }
  };
  const whole = "BT /F1 12 Tf 72 600 Td ({{signature, r1}}) Tj ET";
  const apart = "BT /F1 12 Tf 72 600 Td ({) Tj ET BT /F1 9 Tf 79 600 Td ({signature, r1}}) Tj ET";
  const kerned = "BT /F1 12 Tf 72 600 Td [({) -900 ({signature) -300 (, r1}}) ] TJ ET";
  assert.deepEqual([await tagIn(whole), await tagIn(apart), await tagIn(kerned)], [true, true, true]);
  assert.equal(await tagIn("BT /F1 12 Tf 72 600 Td (a { b } and {c}) Tj ET"), false);
});
