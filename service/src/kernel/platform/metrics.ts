import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { endsWithin } from "./work/ends-within.ts";

export type Metrics = {
  observe: (method: string, route: string, status: number, seconds: number) => void;
  /** Creates the counter with this name. Call it once for each name. */
  counter: <L extends string>(name: string, help: string, labels: readonly L[]) => Counter<L>;
  /**
   * Adds a gauge that is read at each scrape.
   * @param label the label's name; null for a gauge with a single value, which `read` then returns under the key `""`
   * @param read returns the values by label; if it throws or takes longer than 2 s, the scrape omits the gauge
   */
  gauge: (name: string, help: string, label: string | null, read: () => Promise<ReadonlyMap<string, number>>) => void;
  /** Adds a gauge with the constant value 1. Its labels contain the information. */
  info: <L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    read: () => Promise<Record<L, string>>,
  ) => void;
  /** The metrics in Prometheus' text format 0.0.4. */
  render: () => Promise<string>;
  contentType: string;
};

let sharedRegistry: Registry | undefined;

/** The metrics of Node.js and of the process. Created once per process, because their observers can't be stopped. */
function ofProcess(): Registry {
  if (sharedRegistry === undefined) {
    sharedRegistry = new Registry();
    collectDefaultMetrics({ register: sharedRegistry });
  }
  return sharedRegistry;
}

const scrapeMs = 2_000;

/** Returns the fallback if a read fails or times out, so that an unresponsive dependency doesn't block a scrape. */
async function inTime<T, F>(read: () => Promise<T>, fallback: F): Promise<T | F> {
  try {
    const reading = read();
    return (await endsWithin(reading, scrapeMs)) ? await reading : fallback;
  } catch {
    return fallback;
  }
}

export function createMetrics(): Metrics {
  const shared = ofProcess();
  const registry = new Registry();
  const requests = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from the first byte of a request to the end of its answer.",
    labelNames: ["method", "route", "status"] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  // The histogram for each combination of labels. Looking it up in the library costs more than the observation itself.
  const children = new Map<string, Histogram.Internal<"method" | "route" | "status">>();
  return {
    observe(method, route, status, seconds) {
      const name = `${method} ${route} ${status}`;
      const child = children.get(name) ?? requests.labels(method, route, String(status));
      children.set(name, child);
      child.observe(seconds);
    },
    counter: (name, help, labels) => new Counter({ name, help, labelNames: labels, registers: [registry] }),
    gauge(name, help, label, read) {
      new Gauge({
        name,
        help,
        labelNames: label === null ? [] : [label],
        registers: [registry],
        async collect() {
          const values = await inTime(read, new Map<string, number>());
          this.reset();
          // Removes a gauge without labels whose value is unknown. Otherwise it would show 0.
          if (label === null && !values.has("")) this.remove();
          for (const [value, count] of values) this.set(label === null ? {} : { [label]: value }, count);
        },
      });
    },
    info(name, help, labels, read) {
      new Gauge({
        name,
        help,
        labelNames: labels,
        registers: [registry],
        async collect() {
          const values = await inTime(read, null);
          this.reset();
          if (values !== null) this.set(values, 1);
        },
      });
    },
    render: async () => (await Promise.all([shared.metrics(), registry.metrics()])).join("\n"),
    contentType: registry.contentType,
  };
}
