/** The present instant. Passed in wherever time matters, so that a test can hold it. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();

/** A clock that runs ahead by so many seconds. */
export const clockAhead =
  (seconds: number): Clock =>
  () =>
    new Date(Date.now() + seconds * 1000);

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
