/** The clauses that only review can hold, each with the reason. */
export const reviewOnly: Readonly<Record<string, string>> = {};
