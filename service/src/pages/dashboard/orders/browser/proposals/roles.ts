import { isRoleOf } from "../../../../../kernel/pdf/proposals/role.ts";
import { witness } from "../../../../../kernel/pdf/proposals/witnesses.ts";
import { make } from "../../../../ui/browser/parts.ts";
import { chooser } from "../places/controls.ts";
import type { Signer } from "../places/signers.ts";
import { isWitness, rolesOnPages } from "./assign.ts";
import type { FoundPlaces, ProposalOnPage } from "./found.ts";

/**
 * A cache: for each list of proposals, the roles that it names. A list never changes, so the cache stays valid when the
 * form changes.
 */
const rolesOfList = new WeakMap<readonly ProposalOnPage[], readonly string[]>();

/** The roles that have places for signatures or initials, in the order in which the pages first name them. */
export function rolesOf(proposals: readonly ProposalOnPage[]): readonly string[] {
  const roles = rolesOfList.get(proposals) ?? listRoles(proposals);
  rolesOfList.set(proposals, roles);
  return roles;
}

function listRoles(proposals: readonly ProposalOnPage[]): string[] {
  const roles: string[] = [];
  for (const { kind, role } of proposals)
    if ((kind === "signature" || kind === "initials") && role !== null && !roles.some((each) => isSame(each, role)))
      roles.push(role);
  return roles;
}

const isSame = (a: string, b: string): boolean => isRoleOf(a, b) && isRoleOf(b, a);

type RolesFound = Pick<FoundPlaces, "all" | "chosenRole">;

/**
 * The role that is a word of this signer's name, such as "Seller" for "Sam Seller". Undefined if the name contains no
 * role or several roles. Also undefined if another signer's name contains the role, or if another signer already has
 * the role.
 */
function roleInName(
  { name }: Signer,
  { roles, signers, held }: { roles: readonly string[]; signers: readonly Signer[]; held: ReadonlySet<string> },
): string | undefined {
  const isIn = (text: string, role: string) =>
    text
      .toLowerCase()
      .split(/[^\p{L}]+/u)
      .includes(role.toLowerCase());
  const [role, ...others] = roles.filter((each) => isIn(name, each));
  if (role === undefined || others.length > 0 || [...held].some((each) => isRoleOf(each, role))) return undefined;
  return signers.filter((each) => isIn(each.name, role)).length === 1 ? role : undefined;
}

/** The signers with their roles: chosen by the sender, or found in a template, on the pages or in their own names. */
export function withRoles(found: RolesFound, signers: readonly Signer[]): Signer[] {
  const roles = rolesOf(found.all(true));
  const onPages = rolesOnPages(found.all(), signers);
  const stated = signers.map((signer) => {
    const own = onPages.get(signer.row);
    const named = roles.find((each) => (signer.isRole ? isRoleOf(signer.name, each) : own && isSame(own, each)));
    return { signer, role: found.chosenRole(signer) ?? named };
  });
  const held = new Set(stated.flatMap(({ role }) => role || []));
  return stated.map(({ signer, role = roleInName(signer, { roles, signers, held }) ?? "" }) =>
    role === "" ? signer : { ...signer, role },
  );
}

/** The places of a document for these signers. Places of witnesses are included only if a signer is a witness. */
export const placesFor = (found: Pick<FoundPlaces, "all">, signers: readonly Signer[]): readonly ProposalOnPage[] =>
  found.all(signers.some(isWitness));

/**
 * The last role without a signer, and the only signer who can have it. Found only if exactly one signer has no role,
 * and exactly one role besides witness has no signer. Otherwise null.
 */
export function lastRole(
  roles: readonly string[],
  signers: readonly Signer[],
): { signer: Signer; role: string } | null {
  const [signer, ...others] = signers.filter(({ role }) => role === undefined);
  const [role, ...more] = roles.filter(
    (each) => each !== witness && !signers.some((one) => one.role && isRoleOf(one.role, each)),
  );
  return signer && role !== undefined && others.length === 0 && more.length === 0 ? { signer, role } : null;
}

type RolesDeps = {
  readonly found: FoundPlaces;
  readonly signers: () => readonly Signer[];
  readonly say: (text: string) => void;
};

/** Asks for the role of each signer, if signature lines name parties and some places have no signer yet. */
export function askRoles({ found, signers, say }: RolesDeps) {
  const legend = make("legend", { textContent: "Who signs as what" });
  const element = make("fieldset", { className: "place-roles" }, legend);
  const choosers = new Map<number, ReturnType<typeof chooser>>();

  function choose(row: number, role: string): void {
    const signer = signers().find((each) => each.row === row);
    if (!signer) return;
    found.chooseRole(signer, role);
    const last = role === "" ? null : lastRole(rolesOf(found.all(true)), withRoles(found, signers()));
    if (last && found.chosenRole(last.signer) === undefined) found.chooseRole(last.signer, last.role);
    const assigned = withRoles(found, signers()).filter((each) => each.role !== undefined);
    say(assigned.map((each) => `${each.name} signs as ${each.role}.`).join(" "));
  }

  return {
    element,
    /**
     * Updates the questions about roles.
     * @param isNeeded true if some places have no signer yet
     */
    refresh(isNeeded: boolean): void {
      const roles = rolesOf(found.all(true));
      const all = withRoles(found, signers());
      element.hidden =
        !isNeeded || roles.length === 0 || (all.length < 2 && roles.length < 2) || all.some((each) => each.isRole);
      for (const [row, { element: old }] of choosers) {
        if (all.some((each) => each.row === row)) continue;
        old.remove();
        choosers.delete(row);
      }
      for (const { row, name, role } of all) {
        const existing = choosers.get(row) ?? chooser(`place-role-${row}`, name, (value) => choose(row, value));
        if (!choosers.has(row)) element.append(existing.element);
        choosers.set(row, existing);
        existing.fill([["", "Choose…"], ...roles.map((each) => [each, each] as const)], role ?? "");
      }
    },
  };
}
