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
