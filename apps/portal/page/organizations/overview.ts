import { ApiKey, Invite, Member, ServiceAccount } from "@ostiary/lib/contracts/identity-api";
import type { TSchema } from "@sinclair/typebox";
import { type Gateway, pathTo } from "../gateway.ts";
import { keyState } from "../keys/key-state.ts";

/** A number of items. If `isWhole` is false, the list has further items that the page did not read. */
export interface Count {
  readonly value: number;
  readonly isWhole: boolean;
}

/** The number of service accounts whose keys the overview reads. */
const ACCOUNTS_MAX = 10;

/**
 * Counts members, open invitations, and keys that end soon: the member's and those of service accounts. A count is
 * null if the member may not read its list.
 */
export async function readOverview(gateway: Gateway, seesInvites: boolean, nowMs: number) {
  const page = async <Item extends TSchema>(name: string, item: Item, ...path: string[]) => {
    const listed = await gateway.list(name, item, pathTo(...path));
    return listed.ok ? listed.value : null;
  };
  const [members, invites, own, accounts] = await Promise.all([
    page("members", Member, "org", "members"),
    seesInvites ? page("invites", Invite, "org", "invites") : null,
    page("keys", ApiKey, "member", "api-keys"),
    page("service_accounts", ServiceAccount, "org", "service-accounts"),
  ]);
  const read = (accounts?.items ?? []).slice(0, ACCOUNTS_MAX);
  const others = await Promise.all(
    read.map(({ id }) => page("keys", ApiKey, "org", "service-accounts", id, "api-keys")),
  );
  const pages = [own, ...others];
  const ending = pages.map(
    (each) => each?.items.filter((key) => keyState(key, nowMs) === "ends_soon").length ?? 0,
  );
  const first = ending.findIndex((count) => count > 0);
  return {
    members: countOf(members, (items) => items.length),
    invites: countOf(invites, (items) => items.filter(({ status }) => status === "active").length),
    endingKeys: {
      value: ending.reduce((all, count) => all + count, 0),
      isWhole:
        pages.every((each) => each?.has_more === false) &&
        accounts?.has_more === false &&
        accounts.items.length <= ACCOUNTS_MAX,
    },
    /** The first service account with such a key, or null if the member has one. */
    endingAccount: read[first - 1]?.id ?? null,
  };
}

type Page<Item> = { items: Item[]; has_more: boolean } | null;

function countOf<Item>(page: Page<Item>, count: (items: Item[]) => number): Count | null {
  return page === null ? null : { value: count(page.items), isWhole: !page.has_more };
}
