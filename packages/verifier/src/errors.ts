/** The command line is wrong, or names a file that cannot be read: exit code 2. */
export class UsageError extends Error {}
