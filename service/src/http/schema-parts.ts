import { type Static, type TSchema, Type } from "typebox";

// Parts that the schemas of many answers are made of.

/** A reference to a schema that was added under its `$id`. */
export function ref<S extends TSchema>(schema: S & { $id?: string }) {
  return Type.Unsafe<Static<S>>({ $ref: `${schema.$id}#` });
}

export const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

const described = (description?: string) => (description === undefined ? {} : { description });

/** One of these names; both the names and their type. */
export const oneOf = <T extends string>(names: readonly T[], description?: string) =>
  Type.Unsafe<T>({ type: "string", enum: [...names], ...described(description) });

/** ISO 8601 in UTC, to the millisecond. */
export const timestamp = (description?: string) =>
  Type.String({ format: "date-time", examples: ["2026-03-04T05:06:07.089Z"], ...described(description) });

export const uuid = (description?: string) => Type.String({ format: "uuid", ...described(description) });

export const environment = (description?: string) => oneOf(["live", "test"], description);

/** The header `Request-Id`, repeated in a body. */
export const requestId = () => uuid();

/** A code of 160 bits. */
export const hexCode = (example: string) => Type.String({ pattern: "^[0-9a-f]{40}$", examples: [example] });

export const verifyCodeExample = "mfrggzdfmztwq2lknnwg23tpoa";

export const verifyCode = (description?: string) =>
  Type.String({ pattern: "^[a-z2-7]{26}$", examples: [verifyCodeExample], ...described(description) });

export const sha256 = (description: string) => Type.String({ pattern: "^[0-9a-f]{64}$", description });

/** Of a page of a list. */
export const nextCursor = () =>
  nullable(Type.String({ description: "Send it as `cursor` for the next page; null on the last." }));
