import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations(
  {
    mintSession: [
      "Mint a session",
      "A person who is an active member gets a session; everyone else gets 404. The session is valid for one hour. Older sessions stay valid.",
    ],
  },
  ["Sessions"],
);
