/** A call to wake up that is heard also by who begins to wait after it was given. */
export type Signal = {
  give: () => void;
  /** Resolves at once when a call was given since the last wait, else with the next one, or when the time is over. */
  wait: (withinMs: number) => Promise<void>;
};

/** For one waiter. */
export function createSignal(): Signal {
  let given = false;
  let wake = () => {};
  return {
    give() {
      given = true;
      wake();
    },
    async wait(withinMs) {
      if (!given) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, withinMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      given = false;
    },
  };
}
