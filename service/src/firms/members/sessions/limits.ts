const [minutes, hours, days] = [60, 3600, 24 * 3600];

/**
 * How long a session may last, and how long it may rest unused (OWASP ASVS 5.0.0, 7.3). Three days bridge a weekend; what
 * operators decide is final, and their sessions open every firm.
 */
export const sessionLimits = {
  member: { wholeSeconds: 14 * days, idleSeconds: 3 * days },
  operator: { wholeSeconds: 8 * hours, idleSeconds: 30 * minutes },
} as const;

/** How long one who has used a mailed link may take for the second factor. */
export const factorDueSeconds = 10 * 60;
