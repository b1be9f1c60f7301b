/**
 * Limits for one node. `perWebhook` counts concurrent sends to one subscription. The other limits count leased
 * deliveries. Of these, `firstWindow` and `maxWindow` apply to one subscription.
 */
export const limits = { total: 4096, perPartner: 512, firstWindow: 8, maxWindow: 512, perWebhook: 32 };

const quickMs = 500;
const patientMs = 2_000;
const maxWebhooks = 10_000;

type Window = { size: number; held: number };

/**
 * How many more deliveries this node may lease: in total, for each subscription, and for each partner. Subscriptions
 * that are not listed have room for `firstWindow`, and partners that are not listed for `perPartner`.
 */
export type Capacity = {
  total: number;
  webhooks: { ids: string[]; free: number[] };
  partners: { ids: string[]; free: number[] };
};

/**
 * The size of a subscription's window after a delivery that took `tookMs`, whether it succeeded or failed. Up to
 * `quickMs` widens the window by 2, up to `maxWindow`. Up to `patientMs` widens it by 1, or reduces it to
 * `perWebhook` if it is larger. A longer time halves the window, to at least 1.
 */
function resized(size: number, tookMs: number): number {
  if (tookMs <= quickMs) return Math.min(size + 2, limits.maxWindow);
  if (tookMs <= patientMs) return Math.min(size + 1, limits.perWebhook);
  return Math.max(size >> 1, 1);
}

export type AdaptiveWindow = {
  acquire: (webhookId: string, partnerId: string) => void;
  /**
   * Counts a delivery as no longer leased, and resizes the subscription's window.
   * @param tookMs how long the POST took, even if it failed or timed out. Null if nothing was sent or the outcome is
   * unknown; the window then keeps its size, because this tells nothing about the endpoint
   * @returns true if the window has enough room to claim more deliveries now
   */
  giveBack: (webhookId: string, partnerId: string, tookMs: number | null) => boolean;
  capacity: () => Capacity;
};

/**
 * Counts leased deliveries, and limits them by a window for each subscription. An unresponsive endpoint soon gets one
 * delivery at a time, however long its queue is. A fast endpoint gets many at once.
 */
export function adaptiveWindow(): AdaptiveWindow {
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
      if (webhooks.size <= maxWebhooks) return;
      if (window.held === 0) webhooks.delete(id);
    }
  }
  return {
    acquire(webhookId, partnerId) {
      windowOf(webhookId).held++;
      partners.set(partnerId, (partners.get(partnerId) ?? 0) + 1);
      held++;
    },
    giveBack(webhookId, partnerId, tookMs) {
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
    capacity: () => ({
      total: limits.total - held,
      webhooks: freeOfWebhooks(webhooks),
      partners: freeOfPartners(partners),
    }),
  };
}

function freeOfWebhooks(webhooks: ReadonlyMap<string, Window>) {
  const adapted = [...webhooks].filter(([, { size, held }]) => size - held !== limits.firstWindow);
  return { ids: adapted.map(([id]) => id), free: adapted.map(([, { size, held }]) => Math.max(size - held, 0)) };
}

function freeOfPartners(partners: ReadonlyMap<string, number>) {
  return {
    ids: [...partners.keys()],
    free: [...partners.values()].map((held) => Math.max(limits.perPartner - held, 0)),
  };
}
