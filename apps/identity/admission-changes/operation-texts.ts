import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations(
  {
    listAdmissionChanges: [
      "Read changes of admissions",
      "The persons, members and organizations whose credentials, status, role or plan changed since a cursor. A gateway drops what it has cached for them. A reader that always passes the last `next` misses no change.",
    ],
  },
  ["Internal"],
);
