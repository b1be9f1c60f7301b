import { areNeighbors, type Pricing, usStateOf, usStates } from "../../../orders/pricing/pricing.ts";

/**
 * The reasons to refuse the postal addresses of a form. An address is refused if its ZIP code belongs to another state
 * than the typed one. Only the dashboard checks this, because the contract lets the API accept such an address.
 *
 * A neighboring state is accepted: the Postal Service also delivers across state lines. More than 130 of the Census
 * Bureau's ZIP code areas have parts in two states.
 */
export const zipFaults = ({ stateOfZip }: Pick<Pricing, "stateOfZip">, fields: ReadonlyMap<string, string>): string[] =>
  ["ship", "from"].flatMap((prefix) => {
    const postal = fields.get(`${prefix}_postal`)?.trim() ?? "";
    const [typed, actual] = [usStateOf(fields.get(`${prefix}_state`) ?? ""), stateOfZip(postal)];
    if (typed === null || actual === null || typed === actual || areNeighbors(typed, actual)) return [];
    return [
      `${prefix}_postal must belong to ${prefix}_state: ${postal} is in ${usStates.get(actual)?.name ?? actual}.`,
    ];
  });
