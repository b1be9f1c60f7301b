import type { Language } from "../../../../kernel/platform/languages.ts";
import { ko, zh } from "./asian.ts";
import { en, type LiveWords } from "./en.ts";
import { es, fr, pt } from "./others.ts";
import { tl, vi } from "./southeast-asian.ts";

export const liveWords: Readonly<Record<Language, LiveWords>> = { en, es, fr, pt, zh, vi, ko, tl };
