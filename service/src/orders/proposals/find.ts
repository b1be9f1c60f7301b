import type { Rect } from "../../kernel/pdf/proposals/content.ts";
import type { Proposal } from "../../kernel/pdf/proposals/propose.ts";
import { isRoleOf } from "../../kernel/pdf/proposals/role.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { runOr, type Task, type Workers } from "../../kernel/platform/workers/task.ts";
import { maxFields, maxSize, minSize } from "../order/order.ts";
import type { OnPage, Search, SearchLimits } from "./propose-task.ts";

const task: Task<SearchLimits, Search | null> = {
  name: "find places for fields",
  module: import.meta.resolve("./propose-task.ts"),
  limitMs: 12_000,
};

const limits: SearchLimits = { pages: 300, milliseconds: 8_000, found: maxFields };

/**
 * Searches a document for places where people sign or fill in something.
 * @throws ServiceError for a document that can't be opened, or can't be read within a worker's limits
 */
async function searchIn(workers: Workers, holder: string, bytes: Buffer): Promise<Search> {
  const search = await runOr(workers, task, { holder, bytes, input: limits }, (cause) => {
    throw new ServiceError("validation", "document is too complex: its pages take too long to search.", { cause });
  });
  if (!search) throw invalid("document must be a PDF that opens without a password.");
  return search;
}

type FoundField = {
  readonly kind: Proposal["kind"];
  /** The signer, counted from 1. With several roles, null unless the words near the place name exactly one of them. */
  readonly signer: number | null;
  readonly page: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** The options of a radio, each with its own place. They are written like the `options` of an order's field. */
  readonly options?: ({ readonly label: string } & Partial<Rect>)[];
  readonly label: string;
  readonly words: string;
  readonly role: string | null;
  readonly reason: Proposal["reason"];
  readonly confidence: Proposal["confidence"];
};

/**
 * Finds the places in a document where people sign or fill in something.
 * @param roles the names of the signers' roles, in the order of the signers' numbers
 */
export async function findFields(
  workers: Workers,
  holder: string,
  { bytes, roles }: { readonly bytes: Buffer; readonly roles: readonly string[] },
): Promise<Omit<Search, "found"> & { readonly fields: readonly FoundField[] }> {
  const { found, ...search } = await searchIn(workers, holder, bytes);
  return { ...search, fields: found.map((each) => fieldOf(each, roles)) };
}

function fieldOf(found: OnPage, roles: readonly string[]): FoundField {
  const { kind, page, label, words, role, reason, confidence, options } = found;
  return {
    kind,
    page,
    label,
    words,
    role,
    reason,
    confidence,
    signer: signerOf(role, roles),
    ...fitted(found.rect, found),
    ...(options.length > 0 && {
      options: options.map((option) => ({ label: option.label, ...(option.rect && fitted(option.rect, found)) })),
    }),
  };
}

/** Fits the size of a place into the limits of its kind. The lower edge stays where it is, on the line to write on. */
function fitted(rect: Rect, { kind, size }: Pick<OnPage, "kind" | "size">): Rect {
  const [min, max] = [minSize[kind], maxSize[kind]];
  const width = Math.min(Math.max(rect.width, min.width), max.width, size.width);
  const height = Math.min(Math.max(rect.height, min.height), max.height, size.height);
  return {
    x: points(Math.min(Math.max(rect.x, 0), size.width - width)),
    y: points(Math.min(Math.max(rect.y + rect.height - height, 0), size.height - height)),
    width: points(width),
    height: points(height),
  };
}

const points = (value: number): number => Math.floor(value * 100) / 100;

/**
 * The number of the signer whose role names the party, such as "Buyer 1" for "Buyers"; null unless exactly one role
 * does. If there is only one signer, every place is that signer's.
 */
function signerOf(party: string | null, roles: readonly string[]): number | null {
  if (roles.length === 1) return 1;
  if (party === null) return null;
  const named = roles.flatMap((role, index) => (isRoleOf(role, party) ? [index + 1] : []));
  return named.length === 1 ? (named[0] ?? null) : null;
}
