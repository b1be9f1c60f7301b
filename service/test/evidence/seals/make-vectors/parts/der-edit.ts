/**
 * A DER value as a tree. With it, a vector changes one place of a structure, and all lengths around the place stay
 * correct.
 */
export type Tree = { readonly tag: number; readonly content: Uint8Array | readonly Tree[] };

const lengthOf = (length: number): number[] => {
  if (length < 0x80) return [length];
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return [0x80 | octets.length, ...octets];
};

/** Parses DER that is known to be valid. */
function treesOf(bytes: Uint8Array): Tree[] {
  const trees: Tree[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] ?? 0;
    const first = bytes[at + 1] ?? 0;
    const count = first < 0x80 ? 0 : first & 0x7f;
    let length = first;
    if (count > 0) length = bytes.subarray(at + 2, at + 2 + count).reduce((sum, octet) => sum * 256 + octet, 0);
    const start = at + 2 + count;
    const content = bytes.slice(start, start + length);
    trees.push({ tag, content: (tag & 0x20) !== 0 ? treesOf(content) : content });
    at = start + length;
  }
  return trees;
}

const isPrimitive = (content: Tree["content"]): content is Uint8Array => content instanceof Uint8Array;

function encoded(tree: Tree): Uint8Array {
  const content = isPrimitive(tree.content) ? tree.content : Buffer.concat(tree.content.map(encoded));
  return Buffer.concat([Uint8Array.of(tree.tag, ...lengthOf(content.length)), content]);
}

/** Returns the values that replace a value. An empty list removes the value. */
export type Edit = (value: Tree, encoding: Uint8Array) => readonly (Tree | Uint8Array)[];

function edited(tree: Tree, path: readonly number[], edit: Edit): Uint8Array {
  const [index, ...rest] = path;
  if (index === undefined) {
    return Buffer.concat(edit(tree, encoded(tree)).map((one) => (one instanceof Uint8Array ? one : encoded(one))));
  }
  if (isPrimitive(tree.content)) throw new Error("a path leads into a primitive value");
  const children = tree.content.map((child, at) => (at === index ? edited(child, rest, edit) : encoded(child)));
  if (index >= tree.content.length) throw new Error("a path leads to a child that is not there");
  const content = Buffer.concat(children);
  return Buffer.concat([Uint8Array.of(tree.tag, ...lengthOf(content.length)), content]);
}

/** Applies an edit to the value at a path of child indexes. @returns the new DER */
export function withEdit(der: Uint8Array, path: readonly number[], edit: Edit): Uint8Array {
  const [tree] = treesOf(der);
  if (tree === undefined) throw new Error("no value");
  return Uint8Array.from(edited(tree, path, edit));
}

/** The value at a path. */
export function valueAt(der: Uint8Array, path: readonly number[]): Tree {
  let [tree] = treesOf(der);
  for (const index of path) tree = tree === undefined || isPrimitive(tree.content) ? undefined : tree.content[index];
  if (tree === undefined) throw new Error("no value at the path");
  return tree;
}

export const tagged =
  (tag: number): Edit =>
  ({ content }) => [{ tag, content }];
export const dropped: Edit = () => [];
export const becomes =
  (...hex: readonly string[]): Edit =>
  () => [Buffer.from(hex.join(""), "hex")];
export const holding =
  (hex: string): Edit =>
  ({ tag }) => [{ tag, content: Buffer.from(hex, "hex") }];
/** Appends bytes, given in hex, to the content of a value. */
export const longerBy =
  (hex: string): Edit =>
  ({ tag, content }) => [
    {
      tag,
      content: Buffer.concat([
        isPrimitive(content) ? content : Buffer.concat(content.map(encoded)),
        Buffer.from(hex, "hex"),
      ]),
    },
  ];
export const repeated =
  (times: number): Edit =>
  (value) =>
    Array.from({ length: times }, () => value);
/** Writes the length with one octet more than it needs. */
export const overlong: Edit = ({ tag, content }) => {
  const body = isPrimitive(content) ? content : Buffer.concat(content.map(encoded));
  const octets = lengthOf(body.length);
  const longer = octets.length === 1 ? [0x81, ...octets] : [(octets[0] ?? 0) + 1, 0, ...octets.slice(1)];
  return [Buffer.concat([Uint8Array.of(tag, ...longer), body])];
};
/** Writes the indefinite length of BER. */
export const indefinite: Edit = ({ tag, content }) => {
  const body = isPrimitive(content) ? content : Buffer.concat(content.map(encoded));
  return [Buffer.concat([Uint8Array.of(tag, 0x80), body, Uint8Array.of(0, 0)])];
};

const headed = (tag: number, content: Uint8Array) => Uint8Array.from([tag, ...lengthOf(content.length), ...content]);
export const explicitOf = (number: number, encoding: Uint8Array): Uint8Array => headed(0xa0 + number, encoding);
export const implicitOf = (number: number, content: Uint8Array): Uint8Array => headed(0x80 + number, content);
/** A BIT STRING of whole octets. */
export const bits = (octets: Uint8Array): Uint8Array => headed(3, Uint8Array.of(0, ...octets));

/** The paths, in a CMS, of a signer's signed attributes and of the signature over them. */
const [ATTRIBUTES, SIGNATURE] = [
  [1, 0, 4, 0, 3],
  [1, 0, 4, 0, 5],
] as const;

/** The index of a signed attribute. @param type its type, as the hex of the identifier's content octets */
export function attributeIndex(cms: Uint8Array, type: string): number {
  const { content } = valueAt(cms, ATTRIBUTES);
  if (isPrimitive(content)) throw new Error("no attributes");
  return content.findIndex((one) =>
    Buffer.from(encoded(one))
      .toString("hex")
      .includes(`06${(type.length / 2).toString(16).padStart(2, "0")}${type}`),
  );
}

/** Edits a value in the signed attributes of a CMS, and signs them again. */
export function resigned(
  cms: Uint8Array,
  path: readonly number[],
  edit: Edit,
  sign: (data: Uint8Array) => Uint8Array,
): Uint8Array {
  const changed = withEdit(cms, [...ATTRIBUTES, ...path], edit);
  const attributes = encoded(valueAt(changed, ATTRIBUTES));
  const signature = sign(Uint8Array.from([0x31, ...attributes.subarray(1)]));
  return withEdit(changed, SIGNATURE, holding(Buffer.from(signature).toString("hex")));
}
