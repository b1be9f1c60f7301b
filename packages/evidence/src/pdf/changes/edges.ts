import { stringText } from "../text.ts";
import { nameOf, type PdfDictionary, type PdfValue } from "../values.ts";
import { ROLE, type Role } from "./roles.ts";

/** The field above a field, as far as it is inherited. */
type FieldParent = {
  readonly name: string | undefined;
  readonly type: string | undefined;
  /** The object that bears the name, and so the value. */
  readonly holder: number | undefined;
};

/** A form field, or a widget of one. */
export type Field = {
  /** The fully qualified name. */
  readonly name: string;
  readonly type: string | undefined;
  readonly holder: number;
  readonly parent: FieldParent;
  /** Reached in two ways, so that it is two fields. */
  readonly ambiguous: boolean;
};

/** What a way brings along: the field above, or the field that an appearance or a value belongs to. */
export type Along = { readonly parent?: FieldParent; readonly owner?: number };

/** Whom a walk tells of what an object leads to. */
export type Lead = {
  readonly to: (value: PdfValue | undefined, role: Role, along?: Along) => void;
  /** A value that only names an object: a page, a parent. */
  readonly pointer: (value: PdfValue | undefined) => void;
  /** The key under which a frozen object or a part is found. */
  readonly by: (key: string, value: PdfValue, role: Role) => void;
  readonly field: (field: Field, dictionary: PdfDictionary) => void;
  readonly isField: (number: number) => boolean;
};

/** An object on the way: its number (that of the object around it, for a direct one), its value, whether a stream. */
export type Place = {
  readonly number: number;
  readonly value: PdfValue;
  readonly isStream: boolean;
  readonly along: Along;
};

type Edges = (place: Place, lead: Lead) => void;

const ROOT: FieldParent = { name: undefined, type: undefined, holder: undefined };

/** Tells the roles of all that an object in a role leads to. */
export function follow(role: Role, place: Place, lead: Lead): void {
  const { value } = place;
  if (value.kind === "array") {
    const ofItems = OF_ITEMS[role] ?? role;
    // A number tree's pairs: the values are found elsewhere, too.
    const pairs = role === ROLE.parentTree && value.items[0]?.kind === "number";
    for (const item of value.items) lead.to(item, pairs ? ROLE.frozen : ofItems, place.along);
  } else if (value.kind === "dictionary") (OF_DICTIONARY[role] ?? allFrozen)(place, lead);
}

const OF_ITEMS: Partial<Record<Role, Role>> = {
  [ROLE.pageKids]: ROLE.page,
  [ROLE.annots]: ROLE.annotation,
  [ROLE.fields]: ROLE.field,
  [ROLE.fieldKids]: ROLE.field,
  [ROLE.storeList]: ROLE.frozen,
  [ROLE.appearanceStream]: ROLE.frozen,
};

function entriesOf({ value }: Place): ReadonlyMap<string, PdfValue> {
  return value.kind === "dictionary" ? value.entries : new Map();
}

/** The roles by key; `null` for what only names an object, and frozen for what is not said. */
function keys(roles: Readonly<Record<string, Role | null>>): Edges {
  return (place, lead) => {
    for (const [key, value] of entriesOf(place)) {
      const role = roles[key];
      if (role === null) lead.pointer(value);
      else if (role === undefined) lead.by(key, value, ROLE.frozen);
      else lead.to(value, role, place.along);
    }
  };
}

const every =
  (role: Role): Edges =>
  (place, lead) => {
    for (const [key, value] of entriesOf(place)) lead.by(key, value, role);
  };
const allFrozen = every(ROLE.frozen);

const annotation: Edges = (place, lead) => {
  if (lead.isField(place.number)) return;
  const isWidget = place.value.kind === "dictionary" && nameOf(place.value, "Subtype") === "Widget";
  for (const [key, value] of entriesOf(place)) {
    if (key === "P" || key === "Parent" || key === "Popup" || key === "IRT") lead.pointer(value);
    else lead.by(key, value, isWidget || place.isStream ? ROLE.frozen : ROLE.annotationPart);
  }
};

const field: Edges = (place, lead) => {
  if (place.value.kind !== "dictionary" || place.isStream) return allFrozen(place, lead);
  const { number, value: dictionary } = place;
  const parent = place.along.parent ?? ROOT;
  const title = dictionary.entries.get("T");
  const own = title?.kind === "string" ? stringText(title) : undefined;
  const name = [parent.name, own].filter((part) => part !== undefined).join(".");
  const type = nameOf(dictionary, "FT") ?? parent.type;
  const holder = own === undefined ? (parent.holder ?? number) : number;
  lead.field({ name, type, holder, parent, ambiguous: false }, dictionary);
  for (const [key, value] of dictionary.entries) {
    if (key === "P" || key === "Parent") lead.pointer(value);
    else if (key === "Kids") lead.to(value, ROLE.fieldKids, { parent: { name, type, holder } });
    else if (key === "AP") lead.to(value, ROLE.appearance, { owner: number });
    else if (key === "V" && type !== "Sig") lead.to(value, ROLE.fieldValue, { owner: number });
    else lead.by(key, value, ROLE.frozen);
  }
};

const appearanceStream: Edges = (place, lead) => {
  for (const [key, value] of entriesOf(place)) {
    if (key === "Length" && place.isStream) lead.to(value, ROLE.fieldValue, place.along);
    else lead.by(key, value, ROLE.frozen);
  }
};

const structure: Edges = (place, lead) => {
  for (const [key, value] of entriesOf(place)) {
    if (key === "K") lead.to(value, ROLE.structure);
    else if (key === "P" || key === "Pg") lead.pointer(value);
    else lead.by(key, value, ROLE.frozen);
  }
};

const OF_DICTIONARY: Partial<Record<Role, Edges>> = {
  [ROLE.catalog]: keys({
    Pages: ROLE.page,
    DSS: ROLE.store,
    Metadata: ROLE.metadata,
    Extensions: ROLE.extensions,
    MarkInfo: ROLE.markInfo,
    StructTreeRoot: ROLE.structureRoot,
    AcroForm: ROLE.form,
  }),
  [ROLE.page]: keys({ Kids: ROLE.pageKids, Annots: ROLE.annots, Parent: null }),
  [ROLE.form]: keys({ Fields: ROLE.fields, DR: ROLE.resources, CO: null }),
  [ROLE.annotation]: annotation,
  [ROLE.annotationPart]: every(ROLE.annotationPart),
  [ROLE.field]: field,
  [ROLE.fieldValue]: every(ROLE.fieldValue),
  [ROLE.appearance]: keys({ N: ROLE.appearanceStream, R: ROLE.appearanceStream, D: ROLE.appearanceStream }),
  [ROLE.appearanceStream]: appearanceStream,
  [ROLE.resources]: every(ROLE.resourceNames),
  [ROLE.information]: every(ROLE.information),
  [ROLE.extensions]: every(ROLE.extensions),
  [ROLE.store]: keys({ Certs: ROLE.storeList, CRLs: ROLE.storeList, OCSPs: ROLE.storeList, VRI: ROLE.validation }),
  [ROLE.structureRoot]: keys({ K: ROLE.structure, ParentTree: ROLE.parentTree }),
  [ROLE.structure]: structure,
  [ROLE.parentTree]: keys({ Kids: ROLE.parentTree, Nums: ROLE.parentTree }),
};
