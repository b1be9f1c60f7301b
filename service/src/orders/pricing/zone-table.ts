import type { PostageRate } from "./postage.ts";
import type { PostageTable } from "./price-book.ts";
import { type Address, isOneOfTheFiftyOrDc } from "./us-states.ts";
import type { Zip3Area } from "./zip3.ts";

const earthMiles = 3958.8;

/** The largest distances of zones 1 to 7, in miles; zone 8 is everything beyond. */
const zoneMiles = [50, 150, 300, 600, 1000, 1400, 1800];

// A greater distance has a smaller cosine. Comparing cosines saves computing an arc cosine for each pair of areas.
const zoneCosines = zoneMiles.map((miles) => Math.cos(miles / earthMiles));

type UnitVector = readonly [x: number, y: number, z: number];

/** The carrier zone, 1 to 8, between two ZIP or ZIP+4 codes; null when either is unassigned or malformed. */
export type Zones = (fromPostal: string, toPostal: string) => number | null;

/** Zones by the great-circle distance between the centers of ZIP3 areas. */
export function zonesBetween(areas: readonly Zip3Area[]): Zones {
  const points = new Map<string, UnitVector>();
  for (const area of areas) {
    const point = unitVector(area);
    for (let zip3 = Number(area.first); zip3 <= Number(area.last); zip3++)
      points.set(String(zip3).padStart(3, "0"), point);
  }
  return (fromPostal, toPostal) => {
    const from = points.get(zip3Of(fromPostal));
    const to = points.get(zip3Of(toPostal));
    if (!from || !to) return null;
    const cosine = from[0] * to[0] + from[1] * to[1] + from[2] * to[2];
    return 1 + zoneCosines.filter((limit) => cosine < limit).length;
  };
}

type Weighed = { from: Place; to: Place; weightGrams: number };
type Place = Pick<Address, "state" | "postal">;

/**
 * Postage from the price book's table. There is no rate outside the fifty states and DC, or above the heaviest step.
 */
export function zoneTable({ areas, postage }: { areas: readonly Zip3Area[]; postage: PostageTable }) {
  const zones = zonesBetween(areas);
  const { carrier, service, steps } = postage;
  return {
    rate({ from, to, weightGrams }: Weighed): PostageRate | null {
      if (!isOneOfTheFiftyOrDc(from.state) || !isOneOfTheFiftyOrDc(to.state)) return null;
      const zone = zones(from.postal, to.postal);
      const step = steps.find(({ upToGrams }) => weightGrams <= upToGrams);
      const amountCents = zone === null ? undefined : step?.zoneCents[zone - 1];
      return zone === null || amountCents === undefined ? null : { amountCents, carrier, service, zone };
    },
  };
}

function zip3Of(postal: string): string {
  return /^\d{5}(-\d{4})?$/.test(postal) ? postal.slice(0, 3) : "";
}

function unitVector({ latitude, longitude }: Zip3Area): UnitVector {
  const [north, east] = [(latitude * Math.PI) / 180, (longitude * Math.PI) / 180];
  return [Math.cos(north) * Math.cos(east), Math.cos(north) * Math.sin(east), Math.sin(north)];
}
