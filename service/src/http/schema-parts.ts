import { type TSchema, Type } from "typebox";

// Parts that the schemas of many answers are made of.

export const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

/** One of these names; both the literals and their type. */
export const oneOf = <T extends string>(names: readonly T[], description?: string) =>
  Type.Unsafe<T>(
    Type.Union(
      names.map((name) => Type.Literal(name)),
      description === undefined ? {} : { description },
    ),
  );

/** ISO 8601 in UTC, to the millisecond. */
export const timestamp = (description?: string) =>
  Type.String({
    format: "date-time",
    examples: ["2026-03-04T05:06:07.089Z"],
    ...(description !== undefined && { description }),
  });

export const environment = () => oneOf(["live", "test"]);

/** The header `Request-Id`, repeated in a body. */
export const requestId = () => Type.String({ format: "uuid" });

/** A code of 160 bits. */
export const hexCode = (example: string) => Type.String({ pattern: "^[0-9a-f]{40}$", examples: [example] });

/** Of a page of a list. */
export const nextCursor = () =>
  nullable(Type.String({ description: "Send it as `cursor` for the next page; null on the last." }));
