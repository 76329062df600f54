import type { Orm } from "@ostiary/lib/runtime/stores/database";
import type { Directory } from "../directory.ts";
import { findUserBySubject, insertUserOfSubject, lockUser, type Subject } from "./queries.ts";
import type { UserRow } from "./user.ts";

/** Each round lost means that someone else created or deleted this very person meanwhile. */
const ROUNDS_MAX = 10;

/**
 * The person of `subject`, created when nobody had it (contract 5), and kept from being deleted until the
 * transaction ends. Two at once create one person: the database lets one claim the link, the other reads it.
 */
export async function personOfSubject(
  tx: Orm,
  directory: Pick<Directory, "newId" | "now">,
  subject: Subject,
): Promise<UserRow> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const found = await findUserBySubject(tx, subject);
    const person =
      found === null
        ? await insertUserOfSubject(tx, subject, newPerson(directory))
        : await lockUser(tx, found.id, "share");
    if (person !== null) return person;
  }
  throw new Error("The person of a subject was created and deleted over and over.");
}

function newPerson({ newId, now }: Pick<Directory, "newId" | "now">): UserRow {
  const createdAt = now();
  return { id: newId(), displayName: null, status: "active", createdAt, updatedAt: createdAt };
}
