/**
 * What an object is for, by the way that leads to it. An object that is reached by two ways has both roles, and what
 * may become of it is what both allow.
 */
export const ROLE = {
  /** Anything that no rule lets change and no page draws: outlines, actions, signatures. It may name pages and fields. */
  frozen: 0x1,
  catalog: 0x2,
  /** A page, or a node of the page tree. */
  page: 0x4,
  pageKids: 0x8,
  annots: 0x10,
  annotation: 0x20,
  /** What an annotation that is no form field is made of. */
  annotationPart: 0x40,
  form: 0x80,
  fields: 0x100,
  field: 0x200,
  fieldKids: 0x400,
  fieldValue: 0x800,
  /** A field's /AP. */
  appearance: 0x1000,
  /** A field's appearance without states. */
  appearanceStream: 0x2000,
  /** The form's /DR. */
  resources: 0x4000,
  resourceNames: 0x8000,
  metadata: 0x10000,
  information: 0x20000,
  extensions: 0x40000,
  markInfo: 0x80000,
  /** /DSS, the document security store. */
  store: 0x100000,
  storeList: 0x200000,
  /** /VRI of the store. */
  validation: 0x400000,
  structureRoot: 0x800000,
  structure: 0x1000000,
  parentTree: 0x2000000,
  /** What a reader may reach while it draws a page. Whatever it leads to is drawn, too. */
  drawn: 0x4000000,
  /** What a reader may reach while it draws an annotation that is no form field. */
  drawnPart: 0x8000000,
} as const;
export type Role = (typeof ROLE)[keyof typeof ROLE];

/** The single roles of a set of them. */
export function rolesIn(set: number): Role[] {
  return Object.values(ROLE).filter((role) => (set & role) !== 0);
}
