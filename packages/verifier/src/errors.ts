/** Thrown when the command line is wrong, or names a file that cannot be read. The exit code is then 2. */
export class UsageError extends Error {}
