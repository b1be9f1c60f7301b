/**
 * The roles of an object, by the path that leads to it. An object on two paths has both roles. It may change only in
 * ways that both roles permit.
 */
export const ROLE = {
  /**
   * Objects that may not change and that no page draws: outlines, actions, signatures. They may reference pages and
   * fields.
   */
  frozen: 0x1,
  catalog: 0x2,
  /** A page, or a node of the page tree. */
  page: 0x4,
  pageKids: 0x8,
  annots: 0x10,
  annotation: 0x20,
  /** A part of an annotation. The parts of a form field's widget do not have this role. */
  annotationPart: 0x40,
  form: 0x80,
  fields: 0x100,
  field: 0x200,
  fieldKids: 0x400,
  fieldValue: 0x800,
  /** The appearance of a field (/AP). */
  appearance: 0x1000,
  /** An entry of a field's /AP (/N, /R or /D): a stream, or a dictionary of states. */
  appearanceStream: 0x2000,
  /** The resources of the form (/DR). */
  resources: 0x4000,
  resourceNames: 0x8000,
  metadata: 0x10000,
  information: 0x20000,
  extensions: 0x40000,
  markInfo: 0x80000,
  /** /DSS, the document security store. */
  store: 0x100000,
  storeList: 0x200000,
  /** /VRI in the document security store. */
  validation: 0x400000,
  structureRoot: 0x800000,
  structure: 0x1000000,
  parentTree: 0x2000000,
  /**
   * An object that a reader may reach while drawing a page. All objects that such an object references have this role
   * too.
   */
  drawn: 0x4000000,
  /**
   * An object that a reader may reach while drawing an annotation. The objects of a form field's widget do not have
   * this role.
   */
  drawnPart: 0x8000000,
} as const;
export type Role = (typeof ROLE)[keyof typeof ROLE];

/** Splits a set of roles into single roles. */
export function rolesIn(set: number): Role[] {
  return Object.values(ROLE).filter((role) => (set & role) !== 0);
}
