import { type Static, type TSchema, Type } from "typebox";

/** A reference to a schema that was registered under its `$id`. */
export function ref<S extends TSchema>(schema: S & { $id?: string }) {
  return Type.Unsafe<Static<S>>({ $ref: `${schema.$id}#` });
}

const described = (description?: string) => (description === undefined ? {} : { description });

type Described = { type?: string; description?: string; examples?: unknown[] };

/**
 * A schema that accepts null and the values of `schema`. If `schema` is a text or number without an example, the
 * example is null.
 * @param description by default, the description of `schema`
 */
export function nullable<S extends TSchema>(schema: S, description = (schema as Described).description) {
  const { type, examples = [null] } = schema as Described;
  const isValue = type === "string" || type === "integer" || type === "number";
  return Type.Union([schema, Type.Null()], { ...described(description), ...(isValue && { examples }) });
}

export const text = (description: string, ...examples: string[]) =>
  Type.String({ description, ...(examples.length > 0 && { examples }) });

/** The schema of a text that must be one of these words. In TypeScript, its type is the union of the words. */
export const oneOf = <T extends string>(names: readonly T[], description?: string, examples?: readonly T[]) =>
  Type.Unsafe<T>({ type: "string", enum: [...names], ...described(description), ...(examples && { examples }) });

/** The schema of a time: ISO 8601 in UTC, to the millisecond. */
export const timestamp = (description: string, example = "2026-03-04T15:06:07.089Z") =>
  Type.String({ format: "date-time", examples: [example], description });

export const uuid = (description: string, example = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff") =>
  Type.String({ format: "uuid", examples: [example], description });

export const environment = (description = "`test` when a test key made it, `live` when a live key did.") =>
  oneOf(["live", "test"], description);

/** The schema of a request's id, which the header `Request-Id` and some bodies contain. */
export const requestId = () =>
  uuid(
    "The id of this request, as in the header `Request-Id`. Quote it to support.",
    "0b5f7e1c-3a52-4c0e-9a55-7d1d2f4b8e60",
  );

export const tier = () => text("The firm's tier: `trial`, `PartnerLink`, `ProOffice` or `ClosingDesk`.", "trial");

/** The schema of a firm in responses about that firm. */
export const firm = () =>
  Type.Object(
    {
      id: uuid("The firm's id.", "b7d03c56-1e94-4fa2-8c7b-6a2f905d13e8"),
      name: text("The firm's name.", "Harbor Title Co."),
      tier: tier(),
    },
    { description: "The firm." },
  );

/** The schema of the member `ok` in the response to a write that returns no data. */
export const ok = (description = "Always true: a refusal has another status.") => Type.Literal(true, { description });

/** The schema of a code of 160 bits in hex. */
const hexCode = (example: string, description: string) =>
  Type.String({ pattern: "^[0-9a-f]{40}$", examples: [example], description });

export const orderCodeExample = "3f1c0d5a9be24c7786a1f0e2d4b6c8900a1b2c3d";
export const roomCodeExample = "9a1e5c02d7b84f63a0c1e2f3b4d5968778695a4b";

export const orderCode = (description = "The order's public code.") => hexCode(orderCodeExample, description);
export const orderCodes = (description: string) => Type.Array(orderCode(), { description });

export const roomCode = (description = "The room's code. Anyone who has it can see the room.") =>
  hexCode(roomCodeExample, description);

export const verifyCodeExample = "mfrggzdfmztwq2lknnwg23tpoa";

export const verifyCode = (description = "The code by which anyone can verify this.") =>
  Type.String({ pattern: "^[a-z2-7]{26}$", examples: [verifyCodeExample], description });

export const sha256 = (description: string) => Type.String({ pattern: "^[0-9a-f]{64}$", description });

/** The cursor that leads to the next page of a list. */
export const nextCursor = () =>
  nullable(Type.String({ description: "Send it as `cursor` to get the next page. Null on the last page." }));

/**
 * The schema of a new seal's place in the transparency log: the log's name, and the stage that the seal has reached
 * there.
 */
export const logNote = () =>
  Type.Object(
    {
      origin: text("The transparency log that the seal enters.", "sign.example.com/log/live"),
      state: oneOf(
        ["queued", "logged", "witnessed", "anchored"],
        "`queued`: the log has it within seconds. The others only after `Prefer: wait`: `logged` with a signed state of the log, `witnessed` by its quorum, `anchored` by time stamps or calendars.",
      ),
    },
    { description: "The line of the seal in the transparency log." },
  );
