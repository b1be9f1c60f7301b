/** The reports that Lob may make about an accepted letter, in the usual order. */
export const letterHappenings = [
  "mailed",
  "rerouted",
  "trouble",
  "delivered",
  "returned",
  "failed",
  "cancelled",
] as const;
export type Happening = (typeof letterHappenings)[number];

/** The reports about a letter, each with the earliest time that was reported. */
export type LetterProgress = Readonly<Partial<Record<Happening, Date>>>;

/** The stage of a letter, which never moves backward. */
export type LetterStage = "accepted" | "mailed" | "delivered" | "returned" | "failed" | "cancelled";

const scan = "mailed";
const meanings: Readonly<Record<string, Happening>> = {
  mailed: scan,
  in_transit: scan,
  in_local_area: scan,
  processed_for_delivery: scan,
  international_exit: scan,
  "re-routed": "rerouted",
  pickup_available: "trouble",
  issue: "trouble",
  delivered: "delivered",
  returned_to_sender: "returned",
  rejected: "failed",
  failed: "failed",
  deleted: "cancelled",
};

/**
 * The meaning of a Lob event; undefined for an event that does not concern the letter's progress.
 * @param type such as `letter.certified.delivered`
 */
export function meaningOf(type: string): Happening | undefined {
  const [, what = ""] = /^letter\.(?:certified\.)?([a-z_-]+)$/.exec(type) ?? [];
  return Object.hasOwn(meanings, what) ? meanings[what] : undefined;
}

/**
 * The meaning of a tracking event in Lob's response about a letter; undefined for an event that does not concern the
 * letter's progress.
 * @param name such as `Returned to Sender`
 */
export const meaningOfTracking = (name: string): Happening | undefined =>
  meaningOf(`letter.${name.toLowerCase().replaceAll(" ", "_")}`);

/** Adds a report. The result doesn't depend on the order of reports or on repetitions. */
export function withHappening(progress: LetterProgress, what: Happening, at: Date): LetterProgress {
  const earliest = progress[what];
  return earliest && earliest <= at ? progress : { ...progress, [what]: at };
}

const final = ["cancelled", "failed", "returned", "delivered"] as const;

/** The stage that the reports show. Any report by the postal service shows that the letter was mailed. */
export function stageOf(progress: LetterProgress): LetterStage {
  const ended = final.find((stage) => progress[stage]);
  if (ended) return ended;
  return progress.mailed || progress.rerouted || progress.trouble ? "mailed" : "accepted";
}

/** The earliest time at which the postal service reported the letter; null before the first report. */
export function mailedAt({ mailed, rerouted, trouble, delivered, returned }: LetterProgress): Date | null {
  const times = [mailed, rerouted, trouble, delivered, returned].filter((time) => time !== undefined);
  return times.length === 0 ? null : new Date(Math.min(...times.map((time) => time.getTime())));
}

/** True if Lob is not expected to report anything more about a letter in this stage. */
export const isFinal = (stage: LetterStage): boolean => final.some((each) => each === stage);
