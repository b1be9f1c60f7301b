import { stringText } from "../text.ts";
import { flagsOf, nameOf, type PdfDictionary, type PdfValue } from "../values.ts";
import { ROLE, type Role } from "./roles.ts";

/** The parent of a form field, with the entries that the field can inherit. */
type FieldParent = {
  readonly name: string | undefined;
  readonly type: string | undefined;
  /**
   * The number of the nearest object with a name (/T), from the parent upward. A field without a name of its own has
   * its value in this object.
   */
  readonly holder: number | undefined;
  /** The number of the parent object, whose /Kids contain the field. */
  readonly node: number | undefined;
  /** The field's flags (/Ff); null when readers may disagree on them. */
  readonly flags: number | null;
};

/** A form field, or a widget of a form field. */
export type Field = {
  /** The fully qualified name. */
  readonly name: string;
  readonly type: string | undefined;
  readonly holder: number;
  readonly parent: FieldParent;
  /** The field's flags (/Ff), its own or inherited. Null when PDF readers can disagree on the flags. */
  readonly flags: number | null;
  /**
   * True if two paths lead to the field, so that readers see two fields. Also true if its name or type is not a direct
   * value.
   */
  readonly ambiguous: boolean;
};

/**
 * The path on which a walk came to an object. `parent` is the form field above the object, and `above` is the page-tree
 * node above the object. `owner` is the field whose value or appearance the object is.
 */
export type Along = { readonly parent?: FieldParent; readonly above?: number; readonly owner?: number };

/** Receives, during a walk, the role of each object that the visited object references. */
export type Lead = {
  readonly to: (value: PdfValue | undefined, role: Role, along?: Along) => void;
  /**
   * Like `to`, and also records the reference's key in the visited object. Used for roles that an object passes on to
   * the objects that it references.
   */
  readonly by: (key: string, value: PdfValue, role: Role) => void;
  readonly field: (field: Field, dictionary: PdfDictionary) => void;
  readonly isField: (number: number) => boolean;
};

/**
 * An object during a walk: its number, its value, and whether it is a stream. A direct object has the number of the
 * object that contains it.
 */
export type Place = {
  readonly number: number;
  readonly value: PdfValue;
  readonly isStream: boolean;
  readonly along: Along;
};

/** Roles that an object passes on to the objects that it references, directly or through other objects. */
export const HANDED_DOWN = ROLE.frozen | ROLE.drawn | ROLE.annotationPart | ROLE.drawnPart;

type Edges = (place: Place, lead: Lead) => void;

const ROOT: FieldParent = { name: undefined, type: undefined, holder: undefined, node: undefined, flags: 0 };

/** For an object in a given role, reports the role of each object that it references. */
export function follow(role: Role, place: Place, lead: Lead): void {
  const { value } = place;
  if (value.kind === "array") {
    const ofItems = OF_ITEMS[role] ?? role;
    // True for the array of a number tree in which numbers and values alternate. The values get only the role `frozen`
    // here, because other keys also lead to them.
    const pairs = role === ROLE.parentTree && value.items[0]?.kind === "number";
    for (const item of value.items) lead.to(item, pairs ? ROLE.frozen : ofItems, place.along);
  } else if (value.kind === "dictionary") (OF_DICTIONARY[role] ?? allDrawn)(place, lead);
}

const OF_ITEMS: Partial<Record<Role, Role>> = {
  [ROLE.pageKids]: ROLE.page,
  [ROLE.annots]: ROLE.annotation,
  [ROLE.fields]: ROLE.field,
  [ROLE.fieldKids]: ROLE.field,
  [ROLE.storeList]: ROLE.frozen,
  [ROLE.appearanceStream]: ROLE.drawn,
};

function entriesOf({ value }: Place): ReadonlyMap<string, PdfValue> {
  return value.kind === "dictionary" ? value.entries : new Map();
}

/**
 * For each key, gives the object at this key the role that `roles` states. Objects at all other keys get the role
 * `others`.
 */
function keys(roles: Readonly<Record<string, Role>>, others: Role): Edges {
  return (place, lead) => {
    for (const [key, value] of entriesOf(place)) {
      const role = roles[key];
      if (role === undefined || (role & HANDED_DOWN) !== 0) lead.by(key, value, role ?? others);
      else lead.to(value, role, place.along);
    }
  };
}

const every =
  (role: Role): Edges =>
  (place, lead) => {
    for (const [key, value] of entriesOf(place)) lead.by(key, value, role);
  };
const allDrawn = every(ROLE.drawn);

/**
 * Follows a reference from an object back to its container (such as /Parent). The reference is harmless if its target
 * is the object from which the walk came. Otherwise the target gets the role `drawn`, because readers look up inherited
 * entries there.
 */
function climb(value: PdfValue, above: number | undefined, lead: Lead): void {
  if (value.kind !== "reference" || value.number !== above) lead.by("Parent", value, ROLE.drawn);
}

/** Keys of a page that lead to objects that are never drawn: actions, articles, private data. */
const PAGE_KEYS = "AA B DPart SeparationInfo PresSteps AF Metadata PieceInfo ID".split(" ");

const page: Edges = (place, lead) => {
  for (const [key, value] of entriesOf(place)) {
    if (key === "Parent") climb(value, place.along.above, lead);
    else if (key === "Kids") lead.to(value, ROLE.pageKids, { above: place.number });
    else if (key === "Annots") lead.to(value, ROLE.annots);
    else lead.by(key, value, PAGE_KEYS.includes(key) ? ROLE.frozen : ROLE.drawn);
  }
};

/** Annotation keys that lead to actions, to other annotations, or to a signature. */
const ACTION_KEYS = "A AA PA Dest Lock SV P Popup IRT V".split(" ");

const annotation: Edges = (place, lead) => {
  if (lead.isField(place.number)) return;
  const isWidget = place.value.kind === "dictionary" && nameOf(place.value, "Subtype") === "Widget";
  const isPart = !isWidget && !place.isStream;
  for (const [key, value] of entriesOf(place)) {
    if (isPart) lead.by(key, value, key === "AP" ? ROLE.drawnPart : ROLE.annotationPart);
    else lead.by(key, value, ACTION_KEYS.includes(key) ? ROLE.frozen : ROLE.drawn);
  }
};

const field: Edges = (place, lead) => {
  if (place.value.kind !== "dictionary" || place.isStream) return allDrawn(place, lead);
  const { number, value: dictionary } = place;
  const parent = place.along.parent ?? ROOT;
  const [title, kind, flag] = ["T", "FT", "Ff"].map((key) => dictionary.entries.get(key));
  const own = title?.kind === "string" ? stringText(title) : undefined;
  const name = [parent.name, own].filter((part) => part !== undefined).join(".");
  const type = nameOf(dictionary, "FT") ?? parent.type;
  const flags = flag === undefined ? parent.flags : flagsOf(dictionary, "Ff");
  const ambiguous = (title !== undefined && own === undefined) || (kind !== undefined && kind.kind !== "name");
  const holder = own === undefined ? (parent.holder ?? number) : number;
  lead.field({ name, type, holder, parent, flags, ambiguous }, dictionary);
  for (const [key, value] of dictionary.entries) {
    if (key === "Parent") climb(value, parent.node, lead);
    else if (key === "Kids") lead.to(value, ROLE.fieldKids, { parent: { name, type, holder, node: number, flags } });
    else if (key === "AP") lead.to(value, ROLE.appearance, { owner: number });
    else if (key === "V" && type !== "Sig") lead.to(value, ROLE.fieldValue, { owner: number });
    else lead.by(key, value, ACTION_KEYS.includes(key) ? ROLE.frozen : ROLE.drawn);
  }
};

const appearanceStream: Edges = (place, lead) => {
  for (const [key, value] of entriesOf(place)) {
    if (key === "Length" && place.isStream) lead.to(value, ROLE.fieldValue, place.along);
    else lead.by(key, value, ROLE.drawn);
  }
};

const OF_DICTIONARY: Partial<Record<Role, Edges>> = {
  [ROLE.frozen]: every(ROLE.frozen),
  [ROLE.catalog]: keys(
    {
      Pages: ROLE.page,
      DSS: ROLE.store,
      Metadata: ROLE.metadata,
      Extensions: ROLE.extensions,
      MarkInfo: ROLE.markInfo,
      StructTreeRoot: ROLE.structureRoot,
      AcroForm: ROLE.form,
      OCProperties: ROLE.drawn,
      OutputIntents: ROLE.drawn,
    },
    ROLE.frozen,
  ),
  [ROLE.page]: page,
  [ROLE.form]: keys({ Fields: ROLE.fields, DR: ROLE.resources, CO: ROLE.frozen }, ROLE.drawn),
  [ROLE.annotation]: annotation,
  [ROLE.annotationPart]: keys({ AP: ROLE.drawnPart }, ROLE.annotationPart),
  [ROLE.drawnPart]: every(ROLE.drawnPart),
  [ROLE.field]: field,
  [ROLE.fieldValue]: every(ROLE.fieldValue),
  [ROLE.appearance]: keys({ N: ROLE.appearanceStream, R: ROLE.appearanceStream, D: ROLE.appearanceStream }, ROLE.drawn),
  [ROLE.appearanceStream]: appearanceStream,
  [ROLE.resources]: every(ROLE.resourceNames),
  [ROLE.information]: every(ROLE.information),
  [ROLE.extensions]: every(ROLE.extensions),
  [ROLE.store]: keys(
    { Certs: ROLE.storeList, CRLs: ROLE.storeList, OCSPs: ROLE.storeList, VRI: ROLE.validation },
    ROLE.frozen,
  ),
  [ROLE.validation]: every(ROLE.frozen),
  [ROLE.structureRoot]: keys({ K: ROLE.structure, ParentTree: ROLE.parentTree }, ROLE.frozen),
  [ROLE.structure]: keys({ K: ROLE.structure }, ROLE.frozen),
  [ROLE.parentTree]: keys({ Kids: ROLE.parentTree, Nums: ROLE.parentTree }, ROLE.frozen),
};
