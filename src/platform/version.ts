/** The version of the newest release in CHANGELOG.md. */
export const VERSION = '1.2.0';
