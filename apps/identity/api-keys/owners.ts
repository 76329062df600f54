import { notFound } from "@ostiary/lib/domain/errors";
import { existingId } from "../ids.ts";
import { findLivingMember, lockMember, memberAtAddress } from "../members/queries.ts";
import { findServiceAccount } from "../service-accounts/queries.ts";
import { findUser, lockUser } from "../users/queries.ts";
import type { OwnerAddress } from "./keys.ts";

/** `/users/{user_id}`. */
export function userAt(id: string): OwnerAddress {
  const userId = existingId("user", id);
  return {
    lane: async () => userId,
    async find(tx, locked) {
      const user = await (locked ? lockUser(tx, userId, "share") : findUser(tx, userId));
      if (user === null) throw notFound("user", userId);
      return { userId };
    },
  };
}

/** `/members/{member_id}`: suspended ones too, removed ones not. */
export function memberAt(id: string): OwnerAddress {
  const memberId = existingId("member", id);
  return {
    lane: async (database) => (await memberAtAddress(database, { memberId })).organizationId,
    async find(tx, locked) {
      const found = locked
        ? await lockMember(tx, memberId, "share")
        : (await findLivingMember(tx, memberId)) !== null;
      if (!found) throw notFound("member", memberId);
      return { memberId };
    },
  };
}

/** `/organizations/{organization_id}/service-accounts/{service_account_id}`: the same keys as at its member. */
export function serviceAccountAt(params: {
  organization_id: string;
  service_account_id: string;
}): OwnerAddress {
  const organizationId = existingId("organization", params.organization_id);
  const id = existingId("service_account", params.service_account_id);
  return {
    lane: async () => organizationId,
    async find(tx, locked) {
      const account = await findServiceAccount(tx, organizationId, id);
      if (account === null) throw notFound("service_account", id);
      if (locked && !(await lockMember(tx, account.memberId, "share"))) {
        throw notFound("service_account", id);
      }
      return { memberId: account.memberId };
    },
  };
}
