/** How many deliveries this node may hold leased, and of one subscription how many at once on their way. */
export const limits = { total: 4096, perPartner: 512, firstWindow: 8, largestWindow: 512, lanes: 32 };

const quickMs = 500;
const patientMs = 2_000;
const maxKept = 10_000;

type Window = { size: number; held: number };

/** What a claim has to know: where something else is free than at first. */
export type Room = {
  total: number;
  webhooks: { ids: string[]; free: number[] };
  partners: { ids: string[]; free: number[] };
};

/** Quick answers open a window wide, middling ones as far as its lanes; slow ones and none halve it. */
function resized(size: number, tookMs: number): number {
  if (tookMs <= quickMs) return Math.min(size + 2, limits.largestWindow);
  if (tookMs <= patientMs) return Math.min(size + 1, limits.lanes);
  return Math.max(size >> 1, 1);
}

/**
 * Keeps count of the deliveries that are leased. An endpoint that hangs soon holds a single one, whatever its queue; one that
 * is quick gets many by one statement.
 */
export function createWindows() {
  const webhooks = new Map<string, Window>();
  const partners = new Map<string, number>();
  let held = 0;
  function windowOf(webhookId: string): Window {
    const window = webhooks.get(webhookId) ?? { size: limits.firstWindow, held: 0 };
    webhooks.set(webhookId, window);
    return window;
  }
  function forgetIdle(): void {
    for (const [id, window] of webhooks) {
      if (webhooks.size <= maxKept) return;
      if (window.held === 0) webhooks.delete(id);
    }
  }
  return {
    take(webhookId: string, partnerId: string): void {
      windowOf(webhookId).held++;
      partners.set(partnerId, (partners.get(partnerId) ?? 0) + 1);
      held++;
    },
    /**
     * @param tookMs how long the answer took; null for a delivery that was not sent.
     * @returns true when so much has become free that a new claim is worth its statement.
     */
    giveBack(webhookId: string, partnerId: string, tookMs: number | null): boolean {
      const window = windowOf(webhookId);
      window.held--;
      if (tookMs !== null) window.size = resized(window.size, tookMs);
      const left = (partners.get(partnerId) ?? 1) - 1;
      if (left === 0) partners.delete(partnerId);
      else partners.set(partnerId, left);
      held--;
      forgetIdle();
      return window.held * 4 <= window.size * 3;
    },
    room(): Room {
      const known = [...webhooks].filter(([, window]) => window.size - window.held !== limits.firstWindow);
      const used = [...partners];
      return {
        total: limits.total - held,
        webhooks: { ids: known.map(([id]) => id), free: known.map(([, { size, held }]) => Math.max(size - held, 0)) },
        partners: {
          ids: used.map(([id]) => id),
          free: used.map(([, count]) => Math.max(limits.perPartner - count, 0)),
        },
      };
    },
  };
}
