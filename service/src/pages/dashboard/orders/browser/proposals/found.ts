import { blanksIn, roomAbove, wordsIn } from "../../../../../kernel/pdf/proposals/blanks.ts";
import { type PageContent, readContent } from "../../../../../kernel/pdf/proposals/content.ts";
import { type Proposal, proposeAll } from "../../../../../kernel/pdf/proposals/propose.ts";
import type { Run } from "../../../../../kernel/pdf/proposals/runs.ts";
import type { Rect } from "../places/field.ts";
import type { Line } from "../places/geometry.ts";
import type { OpenDocument } from "../places/opened.ts";
import type { Signer } from "../places/signers.ts";

/** A proposal and its page, counted from 1. */
export type ProposalOnPage = Proposal & { readonly page: number };

/**
 * The search ends after `ms` milliseconds or `pages` pages; forms are far smaller. It begins after a pause of `restMs`
 * milliseconds. On the first `slowPages` pages, it also pauses between its steps.
 */
const limits = { ms: 8_000, pages: 300, restMs: 300, slowPages: 3 } as const;

/**
 * Pauses the search, so that the browser can draw pages meanwhile. The first pause lets it draw the first pages before
 * the search begins.
 */
const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export type FoundPlaces = {
  /**
   * The places that were found so far.
   * @param isWitnessed true to include the places for witnesses
   */
  readonly all: (isWitnessed?: boolean) => readonly ProposalOnPage[];
  /**
   * `reading`: the search is running. `read`: all pages were searched. `partly`: the search ended early. `picture`: the
   * searched pages contain no text.
   */
  readonly state: () => "reading" | "read" | "partly" | "picture";
  /** The writing lines of a page, including those where nobody has to sign. Empty until the page was searched. */
  readonly lines: (page: number) => readonly Line[];
  /** Resolves when the search has ended. */
  readonly isDone: Promise<void>;
  /** True if the text contains tags such as `{{signature, r1}}`, which define where people sign. */
  readonly hasTags: () => boolean;
  readonly dismiss: (proposal: ProposalOnPage) => void;
  /** The role that the sender chose for a signer; empty for none, undefined while the sender has not chosen. */
  readonly chosenRole: (signer: Signer) => string | undefined;
  readonly chooseRole: (signer: Signer, role: string) => void;
  /**
   * Calls `watcher` when places were found or dismissed, when a role was chosen, and when the search has ended.
   * @returns a function that stops the calls
   */
  readonly watch: (watcher: () => void) => () => void;
};

const cache = new WeakMap<OpenDocument, FoundPlaces>();

/**
 * Finds the places of a document where somebody should probably fill in something. Reads the document page by page,
 * once, while the browser is idle.
 */
export function findPlaces(opened: OpenDocument): FoundPlaces {
  const found = cache.get(opened) ?? begin(opened);
  cache.set(opened, found);
  return found;
}

function begin({ document: pdf, pdfJs }: OpenDocument): FoundPlaces {
  let proposals: readonly ProposalOnPage[] = [];
  let withWitnesses: readonly ProposalOnPage[] = [];
  let state: ReturnType<FoundPlaces["state"]> = "reading";
  let hasTags = false;
  const lines = new Map<number, readonly Line[]>();
  const chosen = new Map<string, string>();
  const watchers = new Set<() => void>();
  const tell = () => {
    for (const watcher of watchers) watcher();
  };

  async function read(): Promise<void> {
    await rest(limits.restMs);
    const until = performance.now() + limits.ms;
    let hasWords = false;
    let isPart = false;
    for (let number = 1; number <= pdf.numPages; number++) {
      if (number > limits.pages || performance.now() > until) {
        isPart = true;
        break;
      }
      const page = await pdf.getPage(number);
      const content = await readContent(page, pdfJs.OPS);
      page.cleanup();
      // On the first pages, the browser still has to compile the search code. Each step on these pages is a separate
      // task, so that no frame is dropped.
      const isSlow = number <= limits.slowPages;
      if (isSlow) await rest(0);
      if (content.runs.length > 0 || content.own.length > 0) hasWords = true;
      hasTags ||= containsTag(content.runs);
      lines.set(number, linesOf(content));
      const { signers, witnesses } = proposeAll(content);
      if (isSlow) await rest(0);
      const here = signers.map((proposal) => ({ ...proposal, page: number }));
      const ofWitnesses = witnesses.map((proposal) => ({ ...proposal, page: number }));
      if (here.length > 0) proposals = [...proposals, ...here];
      if (here.length + ofWitnesses.length > 0) {
        withWitnesses = [...withWitnesses, ...here, ...ofWitnesses];
        tell();
      }
      await rest(0);
    }
    state = hasWords ? (isPart ? "partly" : "read") : "picture";
    tell();
  }

  const isDone = read().catch(() => {
    // A page can't be read, or the document was closed. The proposals found so far remain.
    state = "partly";
    tell();
  });

  return {
    all: (isWitnessed = false) => (isWitnessed ? withWitnesses : proposals),
    lines: (page) => lines.get(page) ?? [],
    state: () => state,
    hasTags: () => hasTags,
    isDone,
    dismiss(proposal) {
      proposals = proposals.filter((each) => each !== proposal);
      withWitnesses = withWitnesses.filter((each) => each !== proposal);
      tell();
    },
    chosenRole: (signer) => chosen.get(keyOf(signer)),
    chooseRole(signer, role) {
      chosen.set(keyOf(signer), role);
      tell();
    },
    watch(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}

/** In points: the space above a line is measured up to this height. */
const maxRoom = 36;

function linesOf(content: PageContent): Line[] {
  const blanks = blanksIn(content);
  const others = [...wordsIn(content), ...blanks];
  return blanks.flatMap((blank) => {
    const { x, y, width, box } = blank;
    return box ? [] : [{ x, y, width, room: roomAbove(blank, others, maxRoom) }];
  });
}

/** The key includes the name, so that a row that names another person needs a new choice of role. */
const keyOf = ({ row, name }: Signer): string => `${row} ${name}`;

/** True if the text of the runs contains the beginning of a tag. The two braces of a tag may be in different runs. */
export const containsTag = (runs: readonly Pick<Run, "text">[]): boolean =>
  runs
    .map(({ text }) => text)
    .join("")
    .includes("{{");

export const overlaps = (a: Rect, b: Rect): boolean =>
  Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) > 1 &&
  Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > 1;
