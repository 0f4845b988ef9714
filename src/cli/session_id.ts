/** What the text of a session option may look like. Knows no stored session. */

/**
 * The id of a session that a user chooses: letters, digits, `.`, `_` and `-`, beginning and ending with a letter or digit, 2 to 200
 * characters.
 */
export const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,198}[A-Za-z0-9]$/;

/** A part of such an id. */
export const SESSION_ID_PART = /^[A-Za-z0-9._-]{1,200}$/;
