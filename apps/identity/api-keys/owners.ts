import { type ApiError, notFound } from "@ostiary/lib/domain/errors";
import type { Database, Orm } from "@ostiary/lib/runtime/stores/database";
import { lockMember, requireCurrentMember } from "../members/member-sql.ts";
import { requireServiceAccount } from "../service-accounts/service-account-sql.ts";
import { lockExistingUser, requireUser } from "../users/user-sql.ts";
import type { KeyOwner } from "./api-key-sql.ts";

/** The owner of API keys that a URL path names. The methods that look up the owner throw a 404 for an unknown owner. */
export interface OwnerAddress {
  /** Returns the lane for writes to the owner's keys: the id of the person, or of the member's organization. */
  lane(database: Database): Promise<string>;
  /** Returns the owner. With `locked`, nobody can remove the owner before the transaction ends. */
  find(tx: Orm, locked: boolean): Promise<KeyOwner>;
  /** Returns the owner, unchecked: the statement that uses the owner must check that the owner exists. */
  named(orm: Orm): Promise<KeyOwner>;
  /** Returns the error for an owner that does not exist. */
  nobody(): ApiError;
}

/** Returns the owner that the path `/users/{user_id}` names. */
export function userAt({ user_id }: Record<"user_id", string>): OwnerAddress {
  return {
    lane: async () => user_id,
    async find(tx, locked) {
      await (locked ? lockExistingUser(tx, user_id, "share") : requireUser(tx, user_id));
      return { user_id };
    },
    named: async () => ({ user_id }),
    nobody: () => notFound("user", user_id),
  };
}

/** Returns the owner that the path `/members/{member_id}` names. A removed member counts as unknown. */
export function memberAt({ member_id }: Record<"member_id", string>): OwnerAddress {
  return {
    async lane(database) {
      const member = await database.run("select_member", (orm) => requireCurrentMember(orm, { member_id }));
      return member.organization_id;
    },
    async find(tx, locked) {
      if (!locked) await requireCurrentMember(tx, { member_id });
      else if (!(await lockMember(tx, member_id, "share"))) throw notFound("member", member_id);
      return { member_id };
    },
    named: async () => ({ member_id }),
    nobody: () => notFound("member", member_id),
  };
}

/**
 * Returns the owner that the path `/organizations/{organization_id}/service-accounts/{service_account_id}` names:
 * the service account's member.
 */
export function serviceAccountAt(
  address: Record<"organization_id" | "service_account_id", string>,
): OwnerAddress {
  return {
    lane: async () => address.organization_id,
    async find(tx, locked) {
      const { id, member_id } = await requireServiceAccount(tx, address);
      if (locked && !(await lockMember(tx, member_id, "share"))) throw notFound("service_account", id);
      return { member_id };
    },
    named: async (orm) => ({ member_id: (await requireServiceAccount(orm, address)).member_id }),
    nobody: () => notFound("service_account", address.service_account_id),
  };
}
