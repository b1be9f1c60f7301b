import type { Language } from "../../../../kernel/platform/languages.ts";
import { ko, tl, vi, zh } from "./asian.ts";
import { en, type LiveWords } from "./en.ts";
import { es, fr, pt } from "./others.ts";

export const liveWords: Readonly<Record<Language, LiveWords>> = { en, es, fr, pt, zh, vi, ko, tl };
