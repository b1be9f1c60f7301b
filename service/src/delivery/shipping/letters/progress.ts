/** What can happen to a letter after Lob took it, in the order of its way. */
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

/** When each first happened, as far as it is known. */
export type LetterProgress = Readonly<Partial<Record<Happening, Date>>>;

/** Where a letter stands; the later ones are never left for the earlier ones. */
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

/** What an event of Lob says of a letter; undefined for one that says nothing of its way. @param type `letter.certified.delivered` */
export function meaningOf(type: string): Happening | undefined {
  const [, what = ""] = /^letter\.(?:certified\.)?([a-z_-]+)$/.exec(type) ?? [];
  return Object.hasOwn(meanings, what) ? meanings[what] : undefined;
}

/** The same of a tracking event as a letter lists it. @param name `Returned to Sender` */
export const meaningOfTracking = (name: string): Happening | undefined =>
  meaningOf(`letter.${name.toLowerCase().replaceAll(" ", "_")}`);

/** What is known after one thing more: the same in whatever order, and however often, things are heard of. */
export function withHappening(progress: LetterProgress, what: Happening, at: Date): LetterProgress {
  const known = progress[what];
  return known && known <= at ? progress : { ...progress, [what]: at };
}

const final = ["cancelled", "failed", "returned", "delivered"] as const;

/** Whatever the post does with a letter shows that it was mailed. */
export function stageOf(progress: LetterProgress): LetterStage {
  const ended = final.find((stage) => progress[stage]);
  if (ended) return ended;
  return progress.mailed || progress.rerouted || progress.trouble ? "mailed" : "accepted";
}

/** When the post took it, as far as it is known; null before. */
export function mailedAt({ mailed, rerouted, trouble, delivered, returned }: LetterProgress): Date | null {
  const times = [mailed, rerouted, trouble, delivered, returned].filter((time) => time !== undefined);
  return times.length === 0 ? null : new Date(Math.min(...times.map((time) => time.getTime())));
}

/** Whether nothing more can be heard of it. */
export const isFinal = (stage: LetterStage): boolean => final.some((each) => each === stage);
