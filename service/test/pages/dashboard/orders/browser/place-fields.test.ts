import assert from "node:assert/strict";
import { test } from "node:test";
import { pagesIn, toSameCorner } from "../../../../../src/pages/dashboard/orders/browser/places/actions.ts";
import {
  boxesOf,
  copied,
  type Field,
  newField,
  readWritten,
  within,
  withOptions,
  withRect,
  written,
} from "../../../../../src/pages/dashboard/orders/browser/places/field.ts";
import {
  fitSize,
  type Line,
  ontoLine,
  type SizeRules,
  snapMove,
  snapResize,
} from "../../../../../src/pages/dashboard/orders/browser/places/geometry.ts";
import { openStore } from "../../../../../src/pages/dashboard/orders/browser/places/store.ts";
import { fieldWords } from "../../../../../src/pages/dashboard/orders/field-words.ts";
import { refusalWords } from "../../../../../src/pages/dashboard/orders/words.ts";

const letter = { width: 612, height: 792 };
const rule = { min: { width: 8, height: 8 }, max: { width: 360, height: 120 } };
const rules = new Proxy({} as SizeRules, { get: () => rule });
const rect = { x: 100, y: 200, width: 180, height: 36 };
const start = { row: 1, page: 1, rect };

test("close edges and middles snap together, and distant ones do not", () => {
  const other = { x: 104, y: 300, width: 100, height: 36 };
  assert.equal(snapMove(rect, [other], 5).rect.x, 104);
  assert.deepEqual(snapMove(rect, [other], 5).guides, [{ axis: "x", at: 104 }]);
  assert.deepEqual(snapMove(rect, [other], 3).rect, rect);
  assert.deepEqual(snapMove(rect, [other], -1).rect, rect);
  const middle = { x: 188, y: 400, width: 8, height: 8 };
  assert.equal(
    snapMove(rect, [middle], 5).rect.x,
    98,
    "its right edge meets a left one, which is nearer than the middle",
  );
  const sized = snapResize({ ...rect, width: 98 }, [other], 5).rect;
  assert.equal(sized.width, 100, "as wide as the other");
});

test("a size stays within its rules, and a place on its page", () => {
  assert.deepEqual(fitSize("signature", { width: 900, height: 1 }, letter, rules), { width: 360, height: 8 });
  assert.deepEqual(fitSize("text", { width: 300, height: 20 }, { width: 200, height: 15 }, rules), {
    width: 164,
    height: 15,
  });
  assert.deepEqual(within({ ...rect, x: 600, y: -5 }, letter), { ...rect, x: 432, y: 0 });
});

test("written fields are read again, by the rows of the signers", () => {
  const radio = withOptions(newField({ ...start, kind: "radio" }), ["Sole", "Joint", "Trust"]);
  const number: Field = {
    ...newField({ ...start, kind: "number", row: 3 }),
    format: { currency: "USD", min: "1.5", decimals: 2 },
    value: "12",
    readOnly: true,
    label: "Price",
    help: "Net",
  };
  const box: Field = { ...newField({ ...start, kind: "checkbox" }), value: "true" };
  const text = written([radio, number, box], (row) => (row === 3 ? 2 : 1));
  const [first, second, third] = JSON.parse(text) as Record<string, unknown>[];
  assert.deepEqual(Object.keys(first ?? {}), ["kind", "signer", "page", "required", "options"]);
  assert.deepEqual(second?.["format"], { currency: "USD", min: 1.5, decimals: 2 });
  assert.deepEqual([second?.["signer"], second?.["read_only"], third?.["value"]], [2, true, true]);
  const again = readWritten(text, (signer) => (signer === 2 ? 3 : 1));
  const withoutIds = (fields: readonly Field[]) => fields.map(({ id: _, ...rest }) => rest);
  assert.deepEqual(withoutIds(again), withoutIds([{ ...radio, rect: radio.options[0]?.rect ?? rect }, number, box]));
  assert.deepEqual(
    readWritten("", () => 1),
    [],
  );
  assert.equal(
    written([], () => 1),
    "",
  );
});

test("conditions, formulas and choices are written as the order accepts them, and read again", () => {
  const box: Field = { ...newField({ ...start, kind: "checkbox" }), name: "pets" };
  const fee: Field = { ...newField({ ...start, kind: "number" }), showWhen: { field: "pets", operator: "checked" } };
  const total: Field = { ...newField({ ...start, kind: "number" }), formula: "fee * 2", value: "5", readOnly: true };
  const rooms: Field = { ...newField({ ...start, kind: "multiple" }), least: 1, most: 2 };
  const text = written([box, fee, total, rooms], () => 1);
  const [first, second, third, fourth] = JSON.parse(text) as Record<string, unknown>[];
  assert.equal(first?.["id"], "pets");
  assert.deepEqual(second?.["show_when"], { field: "pets", operator: "checked" });
  assert.deepEqual([third?.["formula"], third?.["value"], third?.["read_only"]], ["fee * 2", undefined, undefined]);
  assert.deepEqual([fourth?.["least"], fourth?.["most"], fourth?.["x"]], [1, 2, undefined]);
  const again = readWritten(text, () => 1).map(({ name, showWhen, formula, least }) => ({
    name,
    showWhen,
    formula,
    least,
  }));
  assert.deepEqual(again[1]?.showWhen, fee.showWhen);
  assert.deepEqual([again[0]?.name, again[2]?.formula, again[3]?.least], ["pets", "fee * 2", 1]);
  assert.equal(copied(box, 1, { x: 1, y: 1 }, letter).name, "", "the rules of others go on reading the first");
});

test("a copy keeps the distances of its options, and stays on its page", () => {
  const radio = newField({ ...start, kind: "radio" });
  const copy = copied(radio, 2, { x: 10, y: 20 }, letter);
  assert.deepEqual(
    copy.options.map((option) => [option.rect?.x, option.rect?.y]),
    [
      [110, 220],
      [110, 242],
    ],
  );
  assert.notEqual(copy.id, radio.id);
  assert.equal(withRect(radio, 1, { ...rect, x: 5 }).rect.x, 100, "the place of a radio is that of its first option");
});

test("the options of a copied or moved field keep their distances at the edge of the page", () => {
  const low = { ...rect, x: 600, y: 750, width: 14, height: 14 };
  const radio = newField({ ...start, rect: low, kind: "radio" });
  const topsOf = (field: Field) => field.options.map((option) => option.rect?.y);
  assert.deepEqual(topsOf(copied(radio, 1, { x: 12, y: 26 }, letter)), [756, 778]);
  const store = openStore([radio], () => letter, rules);
  store.place(store.selected() ?? boxesOf(radio)[0] ?? assert.fail(), 2, { ...low, y: 790 });
  assert.deepEqual(topsOf(store.fields()[0] ?? assert.fail()), [756, 778]);
});

test("changes are undone one by one, and text that was typed without a pause at once", () => {
  const store = openStore([], () => letter, rules);
  const field = newField({ ...start, kind: "text" });
  store.add([field]);
  for (const label of ["P", "Pa", "Parcel"]) store.change(field.id, (now) => ({ ...now, label }));
  store.place(store.selected() ?? assert.fail(), 2, { ...rect, x: 900 });
  const [moved] = store.fields();
  assert.deepEqual([moved?.page, moved?.rect.x, moved?.label], [2, 432, "Parcel"]);
  assert.deepEqual([store.undo(), store.fields()[0]?.page], [true, 1]);
  assert.deepEqual([store.undo(), store.fields()[0]?.label], [true, ""]);
  assert.deepEqual([store.undo(), store.fields().length, store.selected()], [true, 0, null]);
  assert.equal(store.undo(), false);
});

test("a radio that moves to another page takes all of its options along", () => {
  const radio = newField({ ...start, kind: "radio" });
  const store = openStore([radio], () => letter, rules);
  store.select({ id: radio.id, option: 1 });
  store.place(store.selected() ?? assert.fail(), 3, { x: 50, y: 100, width: 14, height: 14 });
  const [moved] = store.fields();
  assert.deepEqual([moved?.page, moved?.options.map((option) => option.rect?.y)], [3, [78, 100]]);
});

test("a refusal names the field by the sender's name for it", () => {
  const fields = JSON.stringify([
    { kind: "signature", page: 1 },
    { kind: "text", label: "Parcel", page: 2 },
  ]);
  for (const [message, text] of [
    [
      "fields[1].width must be at most 576 points for a text.",
      "“Parcel” on page 2: width must be at most 576 points for a text.",
    ],
    [
      "fields[1] overlaps fields[0], which is a field of signer 1.",
      "“Parcel” on page 2: overlaps “signature” on page 1, which is a field of signer 1.",
    ],
    ["fields[7].kind is required.", "field 8: kind is required."],
  ] as const)
    assert.deepEqual(refusalWords(message, { fields }), { text, field: "fields" });
  assert.equal(refusalWords("fields[0].x is required.", { fields: "{" }).text, "field 1: x is required.");
});

test("a refusal names all signers who have no signature, by their rows in the form", () => {
  const message = "fields must hold a signature for each signer: signers 2, 3 have none.";
  const rows = { signer1_name: "Sam Seller", signer3_name: "Bea Buyer", signer4_email: "gus@example.com" };
  const { text, field } = refusalWords(message, rows);
  assert.equal(text, "Each signer needs a signature on the pages. Bea Buyer and gus@example.com have none.");
  assert.equal(field, "fields");
  assert.match(refusalWords(message).text, /Signer 2 and signer 3 have none\.$/);
  assert.match(
    refusalWords(message.replace("signers 2, 3 have", "signer 1 has"), { name: "Ann Roe" }).text,
    /Ann Roe has none/,
  );
});

test("places are counted in words that name signatures, initials and dates", () => {
  const of = (kind: string, page: number) => ({ kind, page });
  assert.equal(fieldWords([of("signature", 1), of("initials", 2)]), "1 signature and initials once on pages 1 and 2");
  const many = [of("initials", 1), of("initials", 1), of("date", 1), of("text", 1)];
  assert.equal(fieldWords(many), "initials 2 times, 1 date, and 1 other field on page 1");
});

test("lists of pages are read, and anything else is not a list", () => {
  assert.deepEqual(pagesIn("2-4, 6", 6), [2, 3, 4, 6]);
  assert.deepEqual(pagesIn(" 4 - , 1 ", 6), [1, 4, 5, 6]);
  assert.deepEqual(pagesIn("-2;2", 6), [1, 2]);
  assert.deepEqual(pagesIn("Odd", 5), [1, 3, 5]);
  assert.deepEqual(pagesIn("even", 5), [2, 4]);
  assert.deepEqual(pagesIn("all", 2), [1, 2]);
  for (const text of ["", "7", "0", "3-2", "1-7", "x", "1,,2", "-", "1.5", "2 3", "-1-2"])
    assert.equal(pagesIn(text, 6), null, text);
});

test("a copy on a page of another size keeps its distance to the nearest corner, or does not fit", () => {
  const field = newField({ kind: "initials", row: 1, page: 1, rect: { x: 540, y: 750, width: 60, height: 28 } });
  const wide = { width: 792, height: 612 };
  assert.deepEqual(toSameCorner(field, letter, letter), { x: 0, y: 0 });
  assert.deepEqual(toSameCorner(field, letter, wide), { x: 180, y: -180 });
  const upper = newField({ kind: "initials", row: 1, page: 1, rect: { x: 20, y: 30, width: 60, height: 28 } });
  assert.deepEqual(toSameCorner(upper, letter, wide), { x: 0, y: 0 });
  assert.equal(toSameCorner(upper, letter, { width: 70, height: 70 }), null);
});

test("the lower edge goes onto a line of the page, and the left edge to its beginning", () => {
  const line = { x: 103, y: 239, width: 200, room: 30 };
  const snapped = snapMove(rect, [], 5, [line]);
  assert.deepEqual(snapped.rect, { ...rect, x: 103, y: 203 });
  assert.deepEqual(snapped.guides, [
    { axis: "x", at: 103 },
    { axis: "y", at: 239 },
  ]);
  const far = { ...line, y: 236 + 14 };
  assert.deepEqual(snapMove(rect, [{ ...rect, y: 205 }], 5, [far]).rect.y, 214, "a line wins over a nearer field");
  assert.deepEqual(snapMove(rect, [], 4, [far]).rect.y, 200, "it is too far away");
  assert.deepEqual(snapMove(rect, [], 5, [{ ...line, y: 202 }]).rect, rect, "its upper edge is no writing edge");
  assert.deepEqual(snapMove(rect, [], 5, [{ ...line, x: 300 }]).rect, rect, "the line is beside it");
  assert.deepEqual(snapMove(rect, [], -1, [line]).rect, rect);
});

test("a clicked field goes onto the line nearest to the click, with the line's width and a height that has room", () => {
  const line = { x: 90, y: 226, width: 200, room: 20 };
  const clicked = (lines: readonly Line[]) => ontoLine(rect, lines, { isClick: true });
  assert.deepEqual(clicked([{ ...line, y: 250 }, line]), { x: 90, y: 206, width: 200, height: 20 });
  assert.deepEqual(clicked([{ ...line, width: 150, room: 40 }]), { x: 90, y: 190, width: 150, height: 36 });
  assert.deepEqual(clicked([{ ...line, width: 400, room: 3 }]), { x: 90, y: 216, width: 260, height: 10 });
  const tooFar = [
    { ...line, y: 255 },
    { ...line, x: 200 },
  ];
  assert.equal(clicked(tooFar), null, "too far away, and beside the click");
});

test("a dropped field goes onto the line nearest to its lower edge, although it was dropped beside it", () => {
  const line = { x: 130, y: 236 + 14, width: 200, room: 30 };
  const dropped = (lines: readonly Line[]) => ontoLine(rect, lines, { isClick: false });
  assert.deepEqual(dropped([line, { ...line, y: 220 }]), { x: 130, y: 220, width: 200, height: 30 });
  assert.deepEqual(dropped([{ ...line, x: 200 }]), { x: 200, y: 220, width: 200, height: 30 });
  assert.equal(dropped([{ ...line, y: 236 + 17 }]), null, "too far below");
  assert.equal(dropped([{ ...line, x: 207 }]), null, "too far to the right");
});

test("an undone change is repeated, until another change is made", () => {
  const store = openStore([], () => letter, rules);
  const [first, second] = [newField({ ...start, kind: "text" }), newField({ ...start, kind: "date" })];
  assert.equal(store.redo(), false);
  store.add([first]);
  store.add([second]);
  assert.ok(store.undo() && store.undo());
  assert.deepEqual(store.fields(), []);
  assert.ok(store.redo());
  assert.deepEqual(store.fields(), [first]);
  assert.ok(store.redo());
  assert.deepEqual(store.fields(), [first, second]);
  assert.equal(store.redo(), false);
  store.undo();
  store.change(first.id, (field) => ({ ...field, label: "Unit" }));
  assert.equal(store.redo(), false, "the change replaced what was undone");
  store.undo();
  assert.equal(store.fields()[0]?.label, "");
  store.redo();
  assert.equal(store.fields()[0]?.label, "Unit");
});
