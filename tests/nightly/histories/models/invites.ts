import type { Model } from "../checker/model.ts";

export type InviteCall =
  | { readonly kind: "redeem"; readonly invite: string; readonly person: string }
  | { readonly kind: "revoke" | "read"; readonly invite: string };

export type InviteAnswer =
  /** The person became a member. */
  | { readonly kind: "joined" }
  /** The person was already a member. */
  | { readonly kind: "member" }
  | { readonly kind: "refused"; readonly status: string }
  | { readonly kind: "revoked" }
  | { readonly kind: "read"; readonly status: string; readonly use_count: number };

interface Invite {
  readonly status: "active" | "redeemed" | "revoked";
  readonly members: readonly string[];
  readonly use_count: number;
}

/** Returns the model of an invite that can be used `uses` times (ID-44 to ID-46, ID-48). */
export function invitesOf(uses: number): Model<Invite, InviteCall, InviteAnswer> {
  return {
    name: "invites",
    keyOf: ({ invite }) => invite,
    begin: () => ({ status: "active", members: [], use_count: 0 }),
    step(invite, call, answer) {
      if (call.kind === "redeem") return redeem(invite, call.person, answer, uses);
      if (call.kind === "revoke") {
        if (answer !== null && answer.kind !== "revoked") return null;
        return invite.status === "active" ? { ...invite, status: "revoked" } : invite;
      }
      if (answer === null) return invite;
      const { status, use_count } = invite;
      const isRight = answer.kind === "read" && answer.status === status && answer.use_count === use_count;
      return isRight ? invite : null;
    },
    leavesState: ({ kind }, answer) => kind === "read" || answer?.kind === "refused",
    textOf: ({ status, members, use_count }) => `${status} ${use_count} ${members.toSorted().join(" ")}`,
  };
}

function redeem(invite: Invite, person: string, answer: InviteAnswer | null, uses: number): Invite | null {
  const { status, members } = invite;
  if (status !== "active") {
    if (answer === null) return invite;
    return answer.kind === "refused" && answer.status === status ? invite : null;
  }
  const isMember = members.includes(person);
  if (answer !== null && answer.kind !== (isMember ? "member" : "joined")) return null;
  const use_count = invite.use_count + 1;
  return {
    status: use_count === uses ? "redeemed" : "active",
    members: isMember ? members : [...members, person],
    use_count,
  };
}
