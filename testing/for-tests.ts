import { after } from "node:test";

type Resource = { close: () => unknown } | { stop: () => unknown } | { remove: () => unknown };

const opened: Resource[] = [];
let isRegistered = false;

/** Opens a resource for the tests of a file. All such resources are closed after the tests, in reverse order. */
export async function forTests<T extends Resource>(resource: T | Promise<T>): Promise<T> {
  if (!isRegistered) after(closeAll);
  isRegistered = true;
  const it = await resource;
  opened.push(it);
  return it;
}

async function closeAll(): Promise<void> {
  const errors: unknown[] = [];
  for (const each of opened.toReversed()) {
    try {
      await ("close" in each ? each.close() : "stop" in each ? each.stop() : each.remove());
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, "what the tests used could not be closed");
}
