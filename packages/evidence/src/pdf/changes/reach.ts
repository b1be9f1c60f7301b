import type { PdfValue } from "../values.ts";
import { type Along, type Field, follow, type Lead, type Place } from "./edges.ts";
import { ROLE, type Role, rolesIn } from "./roles.ts";
import { storedOf, type View } from "./view.ts";

/** What every object is for, gathered over the revisions: a role once had is kept, so that none can be shed. */
export type Reach = {
  /** The roles of an object, as a set of `ROLE`. */
  readonly roles: Map<number, number>;
  readonly fields: Map<number, Field>;
  /** The fields that an appearance or a value belongs to. */
  readonly owners: Map<number, Set<number>>;
  /** Signature dictionaries that are objects of their own, and the fields whose value they are. */
  readonly signed: Map<number, number>;
};

type Task = {
  readonly value: PdfValue;
  readonly role: Role;
  readonly along: Along;
  /** The indirect object in which the value stands. */
  readonly within: number;
  /** The key that it is found under, for roles that are handed down; or that it is only named. */
  readonly by: string | undefined;
  readonly named: boolean;
};

const HANDED_DOWN = ROLE.frozen | ROLE.annotationPart;
/** Objects whose own rules are strict enough that any other object may name them. */
const NAMED_BY_ANY = ROLE.catalog | ROLE.page | ROLE.structure | ROLE.structureRoot | ROLE.parentTree;
const FIELD_OR_ANNOTATION = ROLE.field | ROLE.annotation;
/** Keys under which other objects name an annotation or a field. */
const NAMING_KEYS: ReadonlySet<string> = new Set([
  "Obj",
  "Popup",
  "IRT",
  "Parent",
  "P",
  "T",
  "Fields",
  "AN",
  "TA",
  "Annotation",
]);

export function createReach(): Reach {
  return { roles: new Map(), fields: new Map(), owners: new Map(), signed: new Map() };
}

/** Gives roles to all that the trailer leads to. @throws EvidenceError when an object on the way can't be read */
export function reachFromTrailer(reach: Reach, view: View): void {
  const tasks: Task[] = [];
  for (const [key, value] of view.trailer.entries) {
    const role = key === "Root" ? ROLE.catalog : key === "Info" ? ROLE.information : ROLE.frozen;
    tasks.push({ value, role, along: {}, within: 0, by: undefined, named: false });
  }
  walk(reach, view, tasks);
}

/** Hands the roles of changed objects on to what they lead to now. */
export function reachFromChanged(reach: Reach, view: View, numbers: Iterable<number>): void {
  const [rest, structural]: [Task[], Task[]] = [[], []];
  for (const number of numbers) {
    const stored = view.get(number);
    if (stored === undefined) continue;
    for (const role of rolesIn(reach.roles.get(number) ?? 0)) {
      const tasks = (role & HANDED_DOWN) === 0 ? structural : rest;
      const parent = role === ROLE.field ? reach.fields.get(number)?.parent : undefined;
      const owners = [...(reach.owners.get(number) ?? [])];
      for (const owner of owners.length > 0 ? owners : [undefined]) {
        const along = { ...(parent && { parent }), ...(owner !== undefined && { owner }) };
        const place = { number, value: stored.value, isStream: stored.data !== undefined, along };
        follow(role, place, leadInto(reach, tasks, number));
      }
    }
  }
  walk(reach, view, [...rest, ...structural]);
}

function leadInto(reach: Reach, tasks: Task[], within: number): Lead {
  const add = (value: PdfValue | undefined, role: Role, along: Along, by: string | undefined, named: boolean) => {
    if (value?.kind === "reference" || value?.kind === "array" || value?.kind === "dictionary") {
      tasks.push({ value, role, along, within, by, named });
    }
  };
  return {
    to: (value, role, along = {}) => add(value, role, along, undefined, false),
    by: (key, value, role) => add(value, role, {}, key, false),
    pointer: (value) => add(value, ROLE.frozen, {}, undefined, true),
    isField: (number) => reach.fields.has(number),
    field: (field, dictionary) => {
      reach.fields.set(within, { ...field, ambiguous: reach.fields.get(within)?.ambiguous ?? false });
      const value = dictionary.entries.get("V");
      if (value?.kind === "reference" && field.type === "Sig") reach.signed.set(value.number, within);
    },
  };
}

function walk(reach: Reach, view: View, starts: readonly Task[]): void {
  const structural = starts.filter(({ role }) => (role & HANDED_DOWN) === 0);
  const rest = starts.filter(({ role }) => (role & HANDED_DOWN) !== 0);
  // Pages and fields are known before anything that only names them is looked at.
  for (let task = structural.pop() ?? rest.pop(); task !== undefined; task = structural.pop() ?? rest.pop()) {
    visit(reach, view, task, structural, rest);
  }
}

function visit(reach: Reach, view: View, task: Task, structural: Task[], rest: Task[]): void {
  const next: Task[] = [];
  view.spend(1);
  const place = placeOf(reach, view, task);
  if (place === undefined) return;
  const lead = leadInto(reach, next, place.number);
  const { by } = task;
  // What stands in an array is found under the array's key.
  const inArray: Lead = by === undefined ? lead : { ...lead, to: (value, role) => value && lead.by(by, value, role) };
  follow(place.role, place, place.value.kind === "array" ? inArray : lead);
  for (const one of next) ((one.role & HANDED_DOWN) === 0 ? structural : rest).push(one);
}

/** Where a task leads; undefined when nothing is new there. */
function placeOf(reach: Reach, view: View, task: Task): (Place & { readonly role: Role }) | undefined {
  const { value, role, along, within } = task;
  if (value.kind !== "reference") {
    // A field that is no object of its own can't be distinguished from the list that it stands in.
    return { number: within, value, isStream: false, along, role: role === ROLE.field ? ROLE.frozen : role };
  }
  const { number } = value;
  if (isOnlyNamed(reach, view, task, number) || !admit(reach, number, role, along)) return undefined;
  const stored = storedOf(view, value);
  return stored && { number, value: stored.value, isStream: stored.data !== undefined, along, role };
}

/** Whether a reference says no more than which object is meant. What is not there yet is never only named. */
function isOnlyNamed(reach: Reach, view: View, task: Task, number: number): boolean {
  if ((task.role & HANDED_DOWN) === 0) return false;
  if (task.named) return view.inUse(number);
  const roles = reach.roles.get(number) ?? 0;
  if ((roles & NAMED_BY_ANY) !== 0) return true;
  if ((roles & FIELD_OR_ANNOTATION) === 0) return false;
  return task.role === ROLE.annotationPart || (task.by !== undefined && NAMING_KEYS.has(task.by));
}

/** Notes a role, and the field it belongs to; false when both were known. */
function admit(reach: Reach, number: number, role: Role, { owner, parent }: Along): boolean {
  const roles = reach.roles.get(number) ?? 0;
  const owners = reach.owners.get(number) ?? new Set();
  const known = (roles & role) !== 0 && (owner === undefined || owners.has(owner));
  reach.roles.set(number, roles | role);
  if (owner !== undefined) reach.owners.set(number, owners.add(owner));
  const field = role === ROLE.field ? reach.fields.get(number) : undefined;
  if (field !== undefined && field.parent.holder !== parent?.holder)
    reach.fields.set(number, { ...field, ambiguous: true });
  return !known;
}
