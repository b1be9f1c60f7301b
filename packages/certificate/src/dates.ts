/** Formats an instant for tables, UTC. @param iso ISO 8601 */
export const instantText = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;

const months = "January February March April May June July August September October November December".split(" ");

/** Formats an instant for sentences, UTC. @param iso ISO 8601 */
export const dateText = (iso: string): string =>
  `${months[Number(iso.slice(5, 7)) - 1]} ${Number(iso.slice(8, 10))}, ${iso.slice(0, 4)}, ${iso.slice(11, 19)} UTC`;
