/**
 * Repeats a table's roles explicitly: the styles for narrow screens stack cells, which removes their implicit
 * roles.
 */
export const as = (role: "table" | "rowgroup" | "row" | "columnheader" | "cell") => ({ role });
