import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations({
  listProjections: [
    "List the outstanding projections",
    "The services whose newest revision may be missing from the route store, which gateways read, and for how long. The operation reads only the database, so it works while the route store is unavailable. The list is usually empty: an entry that stays for many seconds shows that the route store accepts no writes.",
  ],
});
