import { createHash, randomBytes } from "node:crypto";
import { pageSizes } from "./lob-pages.ts";

/** Nested values of a form or of JSON: `to[name]`, `metadata[order]`. */
export type LobParams = { [name: string]: string | number | boolean | null | LobParams };

export type LobReply = { status: number; body: object };

export type LobTrackingEvent = {
  id: string;
  type: "normal" | "certified";
  name: string;
  details: object | null;
  location: string | null;
  time: string;
  date_created: string;
  date_modified: string;
  object: "tracking_event";
};

/** A letter in the API, with the members that tests read. */
export type LobLetter = {
  id: string;
  object: "letter";
  metadata: Record<string, string>;
  extra_service: string | null;
  tracking_number: string | null;
  tracking_events: LobTrackingEvent[];
  expected_delivery_date: string;
  send_date: string;
  date_created: string;
  date_modified: string;
  deleted?: true;
} & Record<string, unknown>;

/** The letters that the double stores, and its answers. */
export type LobLetters = {
  /** All accepted letters by id, including cancelled ones. */
  letters: Map<string, LobLetter>;
  /** The uploaded files, by letter id. */
  files: Map<string, Buffer>;
  create: (params: LobParams, file: Buffer | null, isLive: boolean) => Promise<LobReply>;
  get: (id: string) => LobReply;
  list: (query: URLSearchParams, baseUrl: string) => LobReply;
  cancel: (id: string) => LobReply;
};

export const lobError = (status: number, code: string, message: string): LobReply => ({
  status,
  body: { error: { message, status_code: status, code } },
});

export const lobId = (prefix: string): string => `${prefix}_${randomBytes(8).toString("hex").slice(0, 16)}`;

const maxSheets = 60;
const extraServices = ["certified", "certified_return_receipt", "registered"];

/**
 * @param windowMs the time in which an accepted letter can be cancelled
 * @param now Lob's clock
 */
export function createLobLetters(windowMs: () => number, now: () => Date): LobLetters {
  const letters: LobLetters["letters"] = new Map();
  const files: LobLetters["files"] = new Map();

  return {
    letters,
    files,
    async create(params, file, isLive) {
      const fault = faultOf(params) ?? (await faultOfFile(params, file));
      if (fault) return fault;
      const letter = newLetter(params, { isLive, at: now(), windowMs: windowMs() });
      letters.set(letter.id, letter);
      if (file) files.set(letter.id, file);
      return { status: 200, body: letter };
    },
    get(id) {
      const letter = letters.get(id);
      return letter ? { status: 200, body: letter } : lobError(404, "not_found", "letter not found");
    },
    list(query, baseUrl) {
      const wanted = metadataOf(query);
      const found = [...letters.values()]
        .reverse()
        .filter(({ deleted }) => !deleted)
        .filter(({ metadata }) => Object.entries(wanted).every(([name, value]) => metadata[name] === value))
        .filter(({ date_created }) => isCreatedWithin(query, date_created));
      const limit = Number(query.get("limit") ?? 10);
      const from = Number(query.get("after") ?? 0);
      const data = found.slice(from, from + limit);
      const more = from + limit < found.length;
      const next_url = more ? `${baseUrl}/v1/letters?limit=${limit}&after=${from + limit}` : null;
      return { status: 200, body: { object: "list", data, count: data.length, next_url, previous_url: null } };
    },
    cancel(id) {
      const letter = letters.get(id);
      if (!letter || letter.deleted) return lobError(404, "not_found", "letter not found");
      if (new Date(letter.send_date) <= now())
        return lobError(422, "not_deletable", "letter can't be canceled after its send_date has passed");
      Object.assign(letter, { deleted: true, date_modified: now().toISOString() });
      return { status: 200, body: { id, deleted: true, object: "letter" } };
    },
  };
}

function faultOf(params: LobParams): LobReply | null {
  for (const side of ["to", "from"] as const) {
    const fault = addressFault(side, params[side]);
    if (fault !== null) return lobError(422, "invalid", fault);
  }
  if (params["use_type"] !== "operational" && params["use_type"] !== "marketing")
    return lobError(422, "invalid", "use_type is required");
  if (params["color"] === undefined) return lobError(422, "invalid", "color is required");
  const extra = params["extra_service"];
  if (extra !== undefined && extra !== null && !extraServices.includes(String(extra)))
    return lobError(422, "invalid", "extra_service must be one of [certified, certified_return_receipt, registered]");
  const metadata = params["metadata"] ?? {};
  const values = typeof metadata === "object" ? Object.entries(metadata) : [];
  if (values.some(([name, value]) => name.length > 40 || String(value).length > 500))
    return lobError(422, "invalid", "metadata is too long");
  return null;
}

function addressFault(side: string, address: LobParams[string] | undefined): string | null {
  if (typeof address === "string" && /^adr_\w+$/.test(address)) return null;
  if (typeof address !== "object" || address === null) return `${side} is required`;
  const text = (name: string) => String(address[name] ?? "");
  if (!text("name") && !text("company")) return `${side}.name or ${side}.company is required`;
  if (text("name").length > 40) return `${side}.name length must be less than or equal to 40 characters long`;
  for (const line of ["address_line1", "address_line2"])
    if (text(line).length > 64) return `${side}.${line} length must be less than or equal to 64 characters long`;
  if (!text("address_line1")) return `${side}.address_line1 is required`;
  if (!text("address_city")) return `${side}.address_city is required`;
  if (!/^[A-Za-z]{2}$/.test(text("address_state")))
    return `${side}.address_state must be a 2 letter state short-name code`;
  if (!/^\d{5}(-\d{4})?$/.test(text("address_zip"))) return `${side}.address_zip must be in a valid zip format`;
  return null;
}

async function faultOfFile(
  { file: reference, double_sided }: LobParams,
  file: Buffer | null,
): Promise<LobReply | null> {
  if (file === null)
    return typeof reference === "string" && reference !== "" ? null : lobError(422, "invalid", "file is required");
  const sizes = await pageSizes(file);
  if (sizes === null) return lobError(422, "invalid_file", "file could not be read as a PDF");
  if (sizes.some(([width, height]) => width !== 612 || height !== 792))
    return lobError(422, "invalid_file_dimensions", "File dimensions must be 8.5in x 11in");
  const sheets = String(double_sided) === "false" ? sizes.length : Math.ceil(sizes.length / 2);
  return sheets > maxSheets ? lobError(422, "file_pages_exceed_max", "File has too many pages") : null;
}

function newLetter(
  { file: _, ...params }: LobParams,
  { isLive, at, windowMs }: { isLive: boolean; at: Date; windowMs: number },
): LobLetter {
  const id = lobId("ltr");
  const created = at.toISOString();
  const extra = params["extra_service"] ? String(params["extra_service"]) : null;
  const expires = Math.floor(at.getTime() / 1000) + 30 * 86_400;
  return {
    ...params,
    to: keptAddress(params["to"], created),
    from: keptAddress(params["from"], created),
    color: String(params["color"]) === "true",
    double_sided: String(params["double_sided"]) !== "false",
    mail_type: params["mail_type"] ?? "usps_first_class",
    metadata: Object.fromEntries(Object.entries(params["metadata"] ?? {}).map(([k, v]) => [k, String(v)])),
    id,
    object: "letter",
    // The vendor's own client accepts only this host.
    url: `https://lob-assets.com/letters/${id}.pdf?expires=${expires}&signature=${randomBytes(12).toString("hex")}`,
    carrier: "USPS",
    thumbnails: [],
    return_envelope: false,
    extra_service: extra,
    // As at the real service, letters of a test key have no tracking number.
    tracking_number: isLive && extra?.startsWith("certified") ? trackingNumber(id) : null,
    tracking_events: [],
    expected_delivery_date: new Date(at.getTime() + 6 * 86_400_000).toISOString().slice(0, 10),
    send_date: new Date(at.getTime() + windowMs).toISOString(),
    date_created: created,
    date_modified: created,
  };
}

/** Twenty digits with the prefix of certified mail. */
const trackingNumber = (id: string): string =>
  `9407${BigInt(`0x${createHash("sha256").update(id).digest("hex")}`)}`.slice(0, 20);

const keptAddress = (address: LobParams[string] | undefined, created: string): object => ({
  ...(typeof address === "object" ? address : {}),
  id: typeof address === "string" ? address : lobId("adr"),
  address_country: "UNITED STATES",
  metadata: {},
  date_created: created,
  date_modified: created,
  object: "address",
});

/**
 * The metadata that a query asks for. It is in parameters `metadata[name]=value`, as documented, or in one JSON text,
 * as the vendor's client sends it.
 */
function metadataOf(query: URLSearchParams): Record<string, string> {
  const asJson = query.get("metadata");
  if (asJson !== null) return JSON.parse(asJson) as Record<string, string>;
  return nested(query, "metadata");
}

function nested(query: URLSearchParams, member: string): Record<string, string> {
  const pattern = new RegExp(`^${member}\\[(\\w+)\\]$`);
  return Object.fromEntries(
    [...query].flatMap(([name, value]) => (pattern.test(name) ? [[name.slice(member.length + 1, -1), value]] : [])),
  );
}

function isCreatedWithin(query: URLSearchParams, created: string): boolean {
  const asJson = query.get("date_created");
  const bounds = asJson === null ? nested(query, "date_created") : (JSON.parse(asJson) as Record<string, string>);
  const at = Date.parse(created);
  const holds = (bound: string, test: (limit: number) => boolean) =>
    bounds[bound] === undefined || test(Date.parse(bounds[bound]));
  return (
    holds("gt", (limit) => at > limit) &&
    holds("gte", (limit) => at >= limit) &&
    holds("lt", (limit) => at < limit) &&
    holds("lte", (limit) => at <= limit)
  );
}
