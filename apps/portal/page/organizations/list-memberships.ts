import { Membership } from "@ostiary/lib/contracts/identity-api";
import { type Answer, answered } from "@ostiary/lib/page";
import { type Gateway, pathTo } from "../gateway.ts";

/** Reads all memberships of the person. A person has few memberships. */
export async function listMemberships(gateway: Gateway): Promise<Answer<Membership[]>> {
  const all: Membership[] = [];
  for (;;) {
    const page = await gateway.list("memberships", Membership, pathTo("user", "memberships"), {
      as: "person",
      query: { limit: 100, starting_after: all.at(-1)?.id },
    });
    if (!page.ok) return page;
    all.push(...page.value.items);
    if (!page.value.has_more || page.value.items.length === 0) return answered(all);
  }
}
