import { randomBytes } from "node:crypto";

export type EasyPostObject = { [name: string]: unknown };

export type Reply = { status: number; body: EasyPostObject };

export const easyPostId = (prefix: string): string => `${prefix}_${randomBytes(16).toString("hex")}`;

export const refusal = (status: number, code: string, message: string): Reply => ({
  status,
  body: { error: { code, message, errors: [] } },
});

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export const numberOf = (value: unknown): number => (typeof value === "number" ? value : Number(textOf(value) || 0));

export const objectOf = (value: unknown): EasyPostObject =>
  typeof value === "object" && value !== null ? (value as EasyPostObject) : {};
