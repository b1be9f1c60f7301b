import { COST } from "../budget.ts";
import type { PdfValue } from "../values.ts";
import { type Along, type Field, follow, HANDED_DOWN, type Lead, type Place } from "./edges.ts";
import { ROLE, type Role, rolesIn } from "./roles.ts";
import { plainDictionary, storedOf, type View } from "./view.ts";

/**
 * The roles of every object, collected over all revisions. An object never loses a role, so a later revision can't
 * remove one.
 */
export type Reach = {
  /** The roles of an object, as a set of `ROLE`. */
  readonly roles: Map<number, number>;
  readonly fields: Map<number, Field>;
  /**
   * For each page or node of the page tree: the node that references it, the last one if there are several. Null for
   * the root of the page tree.
   */
  readonly above: Map<number, number | null>;
  /** For each appearance or value, by object number: the fields that use it. At most two are recorded. */
  readonly owners: Map<number, Set<number>>;
  /** For each signature dictionary that is an indirect object: the field whose value it is. */
  readonly signed: Map<number, number>;
};

type Task = {
  readonly value: PdfValue;
  readonly role: Role;
  readonly along: Along;
  /** The indirect object that contains the value. */
  readonly within: number;
  /** The key that leads to the object; undefined if `Lead.to` reported it. */
  readonly by: string | undefined;
};

/**
 * Roles of objects that outlines, actions and tags may reference under any key. Such a reference does not make readers
 * draw the object.
 */
const NAMED_BY_ANY = ROLE.page | ROLE.structure | ROLE.structureRoot;
const FIELD_OR_ANNOTATION = ROLE.field | ROLE.annotation;
/** Keys under which other objects reference an annotation or a field. */
const NAMING_KEYS: ReadonlySet<string> = new Set(
  "Obj Popup IRT Parent P T Fields AN TA Annotation Annots CO".split(" "),
);

export function createReach(): Reach {
  return { roles: new Map(), fields: new Map(), above: new Map(), owners: new Map(), signed: new Map() };
}

/**
 * Assigns roles to all objects that can be reached from the trailer.
 * @throws EvidenceError when one of them is unreadable
 */
export function reachFromTrailer(reach: Reach, view: View): void {
  const tasks: Task[] = [];
  for (const [key, value] of view.trailer.entries) {
    const role = key === "Root" ? ROLE.catalog : key === "Info" ? ROLE.information : ROLE.frozen;
    tasks.push({ value, role, along: {}, within: 0, by: undefined });
  }
  walk(reach, view, tasks);
}

/**
 * For each changed object, gives roles to the objects that it references now. Their roles follow from the roles that
 * the changed object already has.
 */
export function reachFromChanged(reach: Reach, view: View, numbers: Iterable<number>): void {
  const tasks: Task[] = [];
  for (const number of numbers) {
    const stored = view.get(number);
    if (stored === undefined) continue;
    for (const role of rolesIn(reach.roles.get(number) ?? 0)) {
      const parent = role === ROLE.field ? reach.fields.get(number)?.parent : undefined;
      const above = role === ROLE.page ? reach.above.get(number) : undefined;
      const owners = [...(reach.owners.get(number) ?? [])];
      for (const owner of owners.length > 0 ? owners : [undefined]) {
        const along = {
          ...(parent && { parent }),
          ...(typeof above === "number" && { above }),
          ...(owner !== undefined && { owner }),
        };
        const place = { number, value: stored.value, isStream: stored.data !== undefined, along };
        follow(role, place, leadInto(reach, tasks, number));
      }
    }
  }
  walk(reach, view, tasks);
}

function leadInto(reach: Reach, tasks: Task[], within: number): Lead {
  const add = (value: PdfValue | undefined, role: Role, along: Along, by: string | undefined) => {
    if (value?.kind === "reference" || value?.kind === "array" || value?.kind === "dictionary") {
      tasks.push({ value, role, along, within, by });
    }
  };
  return {
    to: (value, role, along = {}) => add(value, role, along, undefined),
    by: (key, value, role) => add(value, role, {}, key),
    isField: (number) => reach.fields.has(number),
    field: (field, dictionary) => {
      const ambiguous = field.ambiguous || (reach.fields.get(within)?.ambiguous ?? false);
      reach.fields.set(within, { ...field, ambiguous });
      const value = dictionary.entries.get("V");
      if (value?.kind === "reference" && field.type === "Sig") reach.signed.set(value.number, within);
    },
  };
}

/**
 * The turn in which a walk takes a task. Pages, fields and most other roles are first, then annotations, then objects
 * with a role that is handed down.
 */
const turnOf = ({ role }: Task) => ((role & HANDED_DOWN) !== 0 ? 2 : role === ROLE.annotation ? 1 : 0);

function walk(reach: Reach, view: View, starts: readonly Task[]): void {
  const turns: [Task[], Task[], Task[]] = [[], [], []];
  const put = (task: Task) => turns[turnOf(task)].push(task);
  const next = () => turns[0].pop() ?? turns[1].pop() ?? turns[2].pop();
  starts.forEach(put);
  for (let task = next(); task !== undefined; task = next()) visit(reach, view, task).forEach(put);
}

function visit(reach: Reach, view: View, task: Task): Task[] {
  const next: Task[] = [];
  view.spend(COST.way);
  const place = placeOf(reach, view, task);
  if (place === undefined) return next;
  const lead = leadInto(reach, next, place.number);
  const { by } = task;
  // An array element is treated as a value of the key that leads to the array.
  const inArray: Lead = by === undefined ? lead : { ...lead, to: (value, role) => value && lead.by(by, value, role) };
  follow(place.role, place, place.value.kind === "array" ? inArray : lead);
  return next;
}

/** Finds the value to which a task of the walk leads; undefined when there is nothing new to visit. */
function placeOf(reach: Reach, view: View, task: Task): (Place & { readonly role: Role }) | undefined {
  const { value, role, along, within } = task;
  if (value.kind !== "reference") {
    // A field that is a direct object has no number of its own, so it may not change. With the role `drawn`, the
    // objects that it references may not change either.
    return { number: within, value, isStream: false, along, role: role === ROLE.field ? ROLE.drawn : role };
  }
  const { number } = value;
  if (isOnlyNamed(reach, view, task, number) || !admit(reach, number, role, along)) return undefined;
  const stored = storedOf(view, value);
  return stored && { number, value: stored.value, isStream: stored.data !== undefined, along, role };
}

/**
 * True if a reference only identifies an object, and so does not make readers draw it. Always false for a new object,
 * for a stream, and for a reference from a drawn object. In these cases, readers may draw the object whatever the key
 * is.
 */
function isOnlyNamed(reach: Reach, view: View, task: Task, number: number): boolean {
  if (task.role !== ROLE.frozen && task.role !== ROLE.annotationPart) return false;
  const roles = reach.roles.get(number) ?? 0;
  const { by = "" } = task;
  const isNaming =
    (roles & NAMED_BY_ANY) !== 0 ||
    ((roles & FIELD_OR_ANNOTATION) !== 0 && NAMING_KEYS.has(by)) ||
    ((roles & ROLE.annotation) !== 0 && task.role === ROLE.annotationPart) ||
    ((roles & ROLE.catalog) !== 0 && by === "Data");
  return isNaming && plainDictionary(view, task.value) !== undefined;
}

/** Records an object's role and owner. Returns false if both were already recorded. */
function admit(reach: Reach, number: number, role: Role, { owner, parent, above }: Along): boolean {
  const roles = reach.roles.get(number) ?? 0;
  const owners = reach.owners.get(number) ?? new Set();
  // An object with two owners must not change, so a third owner need not be recorded. This limits the work: 90,000
  // fields that share an appearance would be 90,000 paths through it.
  const isOwned = owner === undefined || owners.has(owner) || owners.size > 1;
  const isAdmitted = (roles & role) !== 0 && isOwned;
  reach.roles.set(number, roles | role);
  if (!isOwned) reach.owners.set(number, owners.add(owner));
  if (role === ROLE.page) {
    const one = reach.above.get(number);
    // If two nodes of the page tree reference one page, readers may look up inherited entries in either. So the page
    // must not change.
    if (one !== undefined && one !== (above ?? null)) reach.roles.set(number, roles | role | ROLE.frozen);
    reach.above.set(number, above ?? null);
  }
  const field = role === ROLE.field ? reach.fields.get(number) : undefined;
  if (field !== undefined && field.parent.node !== parent?.node)
    reach.fields.set(number, { ...field, ambiguous: true });
  return !isAdmitted;
}
