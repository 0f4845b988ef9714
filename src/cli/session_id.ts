/** What a session id that a user chooses may look like. */

/** Letters, digits, `.`, `_` and `-`, beginning and ending with a letter or digit. */
export const SESSION_ID = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
