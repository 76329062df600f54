/** The clauses that no test proves and only review enforces, by number. The value is the reason. */
export const reviewOnly: Readonly<Record<string, string>> = {};
