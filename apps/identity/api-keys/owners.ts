import { type ApiError, notFound } from "@ostiary/lib/domain/errors";
import type { Database, Orm } from "@ostiary/lib/runtime/stores/database";
import { lockMember, requireLivingMember } from "../members/queries.ts";
import { requireServiceAccount } from "../service-accounts/queries.ts";
import { lockExistingUser, requireUser } from "../users/queries.ts";
import type { KeyOwner } from "./queries.ts";

/** Whose keys an address names. What finds it throws the 404 of an address that names nobody. */
export interface OwnerAddress {
  /** The lane of writers of these keys: the person, or the member's organization. */
  lane(database: Database): Promise<string>;
  /** `locked` is for a write: the owner then can not be removed before the transaction ends. */
  find(tx: Orm, locked: boolean): Promise<KeyOwner>;
  /** Who it is if there is anybody, for a statement that finds that out by itself. */
  named(orm: Orm): Promise<KeyOwner>;
  /** What such a statement is answered with when there is nobody. */
  nobody(): ApiError;
}

/** `/users/{user_id}`. */
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

/** `/members/{member_id}`: suspended ones too, removed ones not. */
export function memberAt({ member_id }: Record<"member_id", string>): OwnerAddress {
  return {
    async lane(database) {
      const member = await database.run("select_member", (orm) => requireLivingMember(orm, { member_id }));
      return member.organization_id;
    },
    async find(tx, locked) {
      if (!locked) await requireLivingMember(tx, { member_id });
      else if (!(await lockMember(tx, member_id, "share"))) throw notFound("member", member_id);
      return { member_id };
    },
    named: async () => ({ member_id }),
    nobody: () => notFound("member", member_id),
  };
}

/** `/organizations/{organization_id}/service-accounts/{service_account_id}`: the same keys as at its member. */
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
