/** Returns the present instant. It is a parameter wherever time matters, so that a test can set the time. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();

/** Makes a clock that is this many seconds ahead of the real time. */
export const clockAhead =
  (seconds: number): Clock =>
  () =>
    new Date(Date.now() + seconds * 1000);

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** True if `Intl` accepts the text as a time zone. It also accepts offsets, such as `+05:00`, and abbreviations. */
export function isTimeZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: text });
    return true;
  } catch {
    return false;
  }
}
