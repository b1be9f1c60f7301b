import { isRoleOf } from "../../../../../kernel/pdf/proposals/role.ts";
import { witness } from "../../../../../kernel/pdf/proposals/witnesses.ts";
import type { Signer } from "../places/signers.ts";
import type { ProposalOnPage } from "./found.ts";

/**
 * The largest distances, in points. A date, a name or initials may be up to `below` points under their signature, and
 * up to `beside` points to its left or right. Places on one row differ in height by less than `row`.
 */
const block = { below: 120, beside: 160, row: 10 } as const;

/** True for a witness. `assign` gives places for witnesses only to witnesses, and gives witnesses only these places. */
export const isWitness = ({ role }: Pick<Signer, "role">): boolean => role !== undefined && isRoleOf(role, witness);

/** True if the signer may sign at a place for `party`, which is null for a place that names no party. */
const maySign = (signer: Pick<Signer, "role">, party: string | null): boolean =>
  isWitness(signer) === (party === witness) &&
  (signer.role === undefined || party === null || isRoleOf(signer.role, party));

/** The signers whose known role is that of the party. */
const holdersOf = (party: string | null, signers: readonly Signer[]): Signer[] =>
  party === null ? [] : signers.filter(({ role }) => role !== undefined && isRoleOf(role, party));

/**
 * For each place with a known signer: the row of that signer. The signer is known in three cases: the signer's name is
 * near the place or its signature; the place names the signer's role; or a page has one line of the same kind for each
 * signer, in their order. For other places, the sender chooses the signer.
 */
export function assign(
  proposals: readonly ProposalOnPage[],
  signers: readonly Signer[],
): ReadonlyMap<ProposalOnPage, number> {
  const rows = new Map<ProposalOnPage, number>();
  // A single signer without a known role needs no assignment, because places without an owner go to that signer.
  if (signers.length < 2 && signers[0]?.role === undefined) return rows;
  const people = peopleOf(signers);
  const give = (proposal: ProposalOnPage, row: number | undefined) => {
    if (row !== undefined) rows.set(proposal, row);
  };
  const named = (proposal: ProposalOnPage): number | undefined => {
    const row = namedNear(proposal, people);
    return signers.some((signer) => signer.row === row && maySign(signer, proposal.role)) ? row : undefined;
  };
  /**
   * Assigns places in reading order. A single signer gets the first place. Several signers get one place each, if there
   * are exactly as many places as signers.
   */
  const giveInOrder = (places: readonly ProposalOnPage[], rowsInOrder: readonly number[]) => {
    if (rowsInOrder.length !== 1 && rowsInOrder.length !== places.length) return;
    for (const [index, each] of inReadingOrder(places).entries()) give(each, rowsInOrder[index]);
  };
  for (const onPage of Map.groupBy(proposals, ({ page }) => page).values()) {
    for (const proposal of onPage) if (proposal.kind === "signature") give(proposal, named(proposal));
    const signatures = onPage.filter((proposal) => proposal.kind === "signature");
    const isSigned = ({ row }: Signer, party: string | null) =>
      signatures.some((each) => rows.get(each) === row && (party === null || each.role === party));
    const free = () => inReadingOrder(signatures.filter((each) => !rows.has(each)));
    for (const [role, lines] of Map.groupBy(free(), ({ role }) => role)) {
      const holders = holdersOf(role, signers).filter((signer) => !isSigned(signer, role));
      giveInOrder(
        lines,
        holders.map(({ row }) => row),
      );
    }
    const others = signers.filter((signer) => !isWitness(signer) && !isSigned(signer, null));
    const unnamed = free().filter(({ role }) => role !== witness);
    // The remaining signature lines are assigned only if all belong to one party, or to none. So a seller's line never
    // goes to the buyer.
    const [{ role: party } = { role: null }] = unnamed;
    const isOneParty = (party === null ? unnamed : signatures).every(({ role }) => role === party);
    if (unnamed.length === others.length && isOneParty && others.every((each) => maySign(each, party)))
      for (const [index, each] of unnamed.entries()) give(each, others[index]?.row);
    // The row of the only signer who has the role. If no signer has it, the row of the signer who got all assigned
    // signature lines of the role on this page.
    const ofRole = (role: string | null): number | undefined => {
      const holders = holdersOf(role, signers);
      const found = new Set(
        holders.length > 0
          ? holders.map(({ row }) => row)
          : signatures.flatMap((each) => (role !== null && each.role === role ? (rows.get(each) ?? []) : [])),
      );
      return found.size === 1 ? [...found][0] : undefined;
    };
    for (const proposal of onPage) {
      if (proposal.kind === "signature") continue;
      const signature = signatureOf(proposal, signatures);
      const isOthers = proposal.role !== null && signature && signature.role !== proposal.role;
      if (signature && !isOthers) give(proposal, rows.get(signature));
      else give(proposal, (signature ? undefined : named(proposal)) ?? ofRole(proposal.role));
    }
    for (const initials of inRows(onPage.filter(({ kind }) => kind === "initials"))) {
      const assigned = initials.flatMap((each) => rows.get(each) ?? []);
      // Initials next to each other are for different people.
      if (initials.length < 2 || (assigned.length > 0 && new Set(assigned).size === assigned.length)) continue;
      for (const each of initials) rows.delete(each);
      const groups = Map.groupBy(initials, ({ role }) => role);
      for (const [role, places] of groups) {
        const holders = holdersOf(role, signers);
        const isEverybody = places.length === signers.length && signers.every((signer) => maySign(signer, role));
        const one = groups.size > 1 ? ofRole(role) : undefined;
        const inOrder = holders.length > 0 ? holders : isEverybody ? signers : [];
        giveInOrder(places, one === undefined ? inOrder.map(({ row }) => row) : [one]);
      }
    }
  }
  return rows;
}

/**
 * The roles of signers, read from the signature lines with their names, such as "Jane Roe, Buyer". Leaves out signers
 * whose names are at lines of several roles, and roles whose lines name several signers.
 */
export function rolesOnPages(
  proposals: readonly ProposalOnPage[],
  signers: readonly Pick<Signer, "row" | "name">[],
): ReadonlyMap<number, string> {
  const people = peopleOf(signers);
  const roles = new Map<number, Set<string>>();
  for (const proposal of proposals) {
    const row = proposal.kind === "signature" && proposal.role !== null ? namedNear(proposal, people) : undefined;
    if (row !== undefined && proposal.role !== null)
      roles.set(row, (roles.get(row) ?? new Set<string>()).add(proposal.role));
  }
  const single = [...roles].flatMap(([row, [role, ...more]]) =>
    role !== undefined && more.length === 0 ? [[row, role] as const] : [],
  );
  const isShared = (row: number, role: string) =>
    [...roles].some(([other, theirs]) => other !== row && [...theirs].some((each) => isRoleOf(each, role)));
  return new Map(single.filter(([row, role]) => !isShared(row, role)));
}

/**
 * The places for people who don't sign the document: the lines with their names, and the dates and initials of these
 * lines.
 * @param everybody the people whose names are known, including those who don't sign
 */
export function ofOthers(
  proposals: readonly ProposalOnPage[],
  everybody: readonly Pick<Signer, "row" | "name">[],
  signers: readonly Pick<Signer, "row">[],
): ReadonlySet<ProposalOnPage> {
  const people = peopleOf(everybody);
  const isOthers = (row: number | undefined) => row !== undefined && !signers.some((signer) => signer.row === row);
  const signatures = proposals.filter(({ kind }) => kind === "signature");
  const lines = new Set(signatures.filter((each) => isOthers(namedNear(each, people))));
  const belongs = (each: ProposalOnPage) => {
    const onPage = signatures.filter(({ page }) => page === each.page);
    const signature = each.kind === "signature" ? each : signatureOf(each, onPage);
    return signature !== undefined && lines.has(signature);
  };
  return new Set(lines.size === 0 ? [] : proposals.filter(belongs));
}

/**
 * The places without an owner that one click may assign to the signer of `row`. Excludes places that name another
 * signer or party. Also excludes initials next to each other, which are for different people.
 * @param owners the places that have a signer, with the row of that signer. The page names the signer, or the sender
 * chose one
 */
export function forOne(
  row: number,
  {
    proposals,
    owners,
    signers,
  }: {
    readonly proposals: readonly ProposalOnPage[];
    readonly owners: ReadonlyMap<ProposalOnPage, number>;
    readonly signers: readonly Signer[];
  },
): ProposalOnPage[] {
  const people = peopleOf(signers);
  const pages = Map.groupBy(proposals, ({ page }) => page);
  const initials = [...pages.values()].flatMap((onPage) => inRows(onPage.filter(({ kind }) => kind === "initials")));
  const inRow = new Set(initials.filter(({ length }) => length > 1).flat());
  const partyOf = (each: ProposalOnPage): string | null => {
    const signatures = (pages.get(each.page) ?? []).filter(({ kind }) => kind === "signature");
    return each.role ?? (each.kind === "signature" ? null : (signatureOf(each, signatures)?.role ?? null));
  };
  const free = proposals.filter((each) => !owners.has(each));
  const signed = proposals.filter((each) => each.kind === "signature" && owners.has(each));
  const others = signers.filter((signer) => signer.row !== row);
  const isSigned = (of: number) => signed.some((each) => owners.get(each) === of);
  const parties = new Set(free.map(partyOf).filter((party) => party !== null));
  // If the places without an owner name only one party, the last signer without a signature place is assumed to be that
  // party.
  const isLast = !isSigned(row) && others.every((other) => isSigned(other.row)) && parties.size === 1;
  const own = signers.find((signer) => signer.row === row);
  const hasParty = (of: (owner: number) => boolean, party: string) =>
    signed.some((each) => each.role !== null && of(owners.get(each) ?? 0) && isRoleOf(each.role, party)) ||
    holdersOf(party, signers).some((holder) => of(holder.row));
  const mayHave = (party: string) =>
    hasParty((owner) => owner === row, party) || (isLast && !hasParty((owner) => owner !== row, party));
  return free.filter((each) => {
    const [named, party] = [namedNear(each, people), partyOf(each)];
    if (own && !maySign(own, party)) return false;
    return !inRow.has(each) && (named === undefined || named === row) && (party === null || mayHave(party));
  });
}

/**
 * `assign`, with a cache of its last call. `assign` compares each place with each signer, and the editor calls it for
 * every letter that the sender types.
 */
export function openAssign(): typeof assign {
  let last: { proposals: readonly ProposalOnPage[]; signers: string; rows: ReturnType<typeof assign> } | null = null;
  return (proposals, signers) => {
    const key = JSON.stringify(signers);
    if (last?.proposals !== proposals || last.signers !== key)
      last = { proposals, signers: key, rows: assign(proposals, signers) };
    return last.rows;
  };
}

type Person = { readonly row: number; readonly name: readonly string[] };

/**
 * The people, each with the words of their name. People with a single-word name are left out, because one word is too
 * ambiguous.
 */
const peopleOf = (people: readonly Pick<Signer, "row" | "name">[]): Person[] =>
  people.map(({ row, name }) => ({ row, name: wordsIn(name) })).filter(({ name }) => name.length > 1);

const wordsIn = (text: string): string[] =>
  text.includes("@")
    ? []
    : (text
        .normalize("NFKC")
        .toLowerCase()
        .match(/\p{L}+/gu) ?? []);

/** The signer whose name is in the nearest text that names any signer. Undefined if that text names several. */
function namedNear({ near }: ProposalOnPage, people: readonly Person[]): number | undefined {
  if (people.length === 0) return undefined;
  for (const text of near) {
    const words = wordsIn(text);
    const named = people.filter(({ name }) => isNamed(name, words));
    // If Jane Roe and Jane Roe Smith both sign, the text "Jane Roe Smith" names only the latter.
    const longest = Math.max(0, ...named.map(({ name }) => name.length));
    const best = named.filter(({ name }) => name.length === longest);
    if (best.length > 0) return best.length === 1 ? best[0]?.row : undefined;
  }
  return undefined;
}

/** True if the words contain the name. Middle names may be missing on either side: "Jane Roe" matches "Jane Q. Roe". */
function isNamed(name: readonly string[], words: readonly string[]): boolean {
  const [first = "", last = ""] = [name[0], name.at(-1)];
  const start = words.indexOf(first);
  if (start < 0) return false;
  const end = words.indexOf(last, start + 1);
  if (end < 0 || end - start > Math.max(name.length, 3)) return false;
  const [own, other] = [name.slice(1, -1), words.slice(start + 1, end)];
  if (own.length === 0 || other.length === 0) return true;
  return own.every((middle) => other.some((each) => each.startsWith(middle) || middle.startsWith(each)));
}

const bottomOf = ({ rect }: ProposalOnPage): number => rect.y + rect.height;

/** The signature to which a place belongs: the nearest one on its row, else the nearest one above it. */
function signatureOf(proposal: ProposalOnPage, signatures: readonly ProposalOnPage[]): ProposalOnPage | undefined {
  const { rect } = proposal;
  const costOf = (other: ProposalOnPage): number => {
    const down = bottomOf(proposal) - bottomOf(other);
    const away = Math.abs(rect.x - other.rect.x);
    // On the same row, a signature to the left of the proposed field is preferred. One to its right usually belongs to
    // the next column.
    if (Math.abs(down) < block.row) return other.rect.x < rect.x ? away : 1_000 + away;
    const isInColumn =
      rect.x < other.rect.x + other.rect.width + block.beside && rect.x + rect.width > other.rect.x - block.beside;
    return down > 0 && down < block.below && isInColumn ? 10_000 + 10 * down + away : Number.POSITIVE_INFINITY;
  };
  return signatures
    .map((other) => ({ other, cost: costOf(other) }))
    .filter(({ cost }) => Number.isFinite(cost))
    .sort((a, b) => a.cost - b.cost)[0]?.other;
}

const inReadingOrder = (places: readonly ProposalOnPage[]): ProposalOnPage[] =>
  inRows([...places].sort((a, b) => bottomOf(a) - bottomOf(b))).flat();

/** Groups the places of a page by row, each row from left to right. */
function inRows(places: readonly ProposalOnPage[]): ProposalOnPage[][] {
  const rows: ProposalOnPage[][] = [];
  for (const place of places) {
    const row = rows.find(([first]) => first && Math.abs(bottomOf(first) - bottomOf(place)) < block.row);
    if (row) row.push(place);
    else rows.push([place]);
  }
  return rows.map((row) => row.sort((a, b) => a.rect.x - b.rect.x));
}
