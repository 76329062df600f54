import { notFound } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { type Change, changesBetween } from "../changes.ts";
import type { Directory } from "../directory.ts";
import { lockUser, updateUser } from "./queries.ts";
import type { UserRow } from "./user.ts";

/** Changes a person's name or status, and answers what really changed. */
export function changeUser(
  { database, now }: Directory,
  id: string,
  change: { display_name?: string | null; status?: UserRow["status"] },
): Promise<{ user: UserRow; details: Record<string, Change> }> {
  const work = async (tx: Orm) => {
    const before = await lockUser(tx, id, "update");
    if (before === null) throw notFound("user", id);
    const details = changesBetween({ display_name: before.displayName, status: before.status }, change);
    if (Object.keys(details).length === 0) return { user: before, details };
    const written = {
      displayName: change.display_name === undefined ? before.displayName : change.display_name,
      status: change.status ?? before.status,
      updatedAt: now(),
    };
    await updateUser(tx, id, written);
    return { user: { ...before, ...written }, details };
  };
  return database.transaction("change_user", work, { lane: id });
}
