const [minutes, hours, days] = [60, 3600, 24 * 3600];

/**
 * Absolute and idle limits of sessions (OWASP ASVS 5.0.0, 7.3). Three days cover a weekend. The limits for operators
 * are shorter, because operators' decisions are final and their sessions can access every firm.
 */
export const sessionLimits = {
  member: { wholeSeconds: 14 * days, idleSeconds: 3 * days },
  operator: { wholeSeconds: 8 * hours, idleSeconds: 30 * minutes },
} as const;

/** The time for the second factor after a mailed link was used. */
export const factorDueSeconds = 10 * 60;
