import { EMAIL_LENGTH_MAX, Invite, InvitePreview } from "@ostiary/lib/contracts/identity-api";
import { type Static, Type } from "@sinclair/typebox";
import { nullable, personText, shapeOf } from "../fields.ts";
import { type Roles, roleField } from "../roles/configured-roles.ts";
import type { invites } from "../tables.ts";

export { Invite, InvitePreview };

const EXPIRES_SECONDS_MIN = 60;
export const EXPIRES_SECONDS_DEFAULT = 7 * 24 * 60 * 60;
const EXPIRES_SECONDS_MAX = 30 * 24 * 60 * 60;
/** The largest integer that the database column `max_uses` can store. */
const MAX_USES_MAX = 2_147_483_647;

export function createInviteBody(roles: Roles) {
  return Type.Object(
    {
      email: Type.Optional(
        personText(EMAIL_LENGTH_MAX, {
          description: "The email address to show with the invite. Identity sends no email.",
          examples: ["ada@example.com"],
        }),
      ),
      role: roleField(roles, "The role of the new member; default_role by default."),
      expires_in_seconds: Type.Optional(
        Type.Integer({
          minimum: EXPIRES_SECONDS_MIN,
          maximum: EXPIRES_SECONDS_MAX,
          description: "The seconds until the invite expires. The default is seven days.",
          examples: [EXPIRES_SECONDS_DEFAULT],
        }),
      ),
      max_uses: Type.Optional(
        nullable(
          Type.Integer({
            minimum: 1,
            maximum: MAX_USES_MAX,
            description:
              "The maximum number of times that the invite can be redeemed, or null for no maximum. The default is 1.",
            examples: [5],
          }),
          { rule: `must be null or a whole number from 1 to ${MAX_USES_MAX}` },
        ),
      ),
    },
    shapeOf("Create invite request", "A new invite."),
  );
}

export type CreateInvite = Static<ReturnType<typeof createInviteBody>>;

export const InviteTokenBody = Type.Object(
  {
    token: Type.String({
      minLength: 1,
      description: "The invite's token.",
      examples: ["inv_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF"],
      rule: "must be the invite's token",
    }),
  },
  shapeOf("Redeem invite request", "The invite to preview or to redeem."),
);

export type InviteRow = Omit<typeof invites.$inferSelect, "token_hash">;

/** Returns whether an invite that is stored as active has expired. */
export function isOverdue(row: InviteRow, now: number): boolean {
  return row.status === "active" && row.expires_at.getTime() <= now;
}

export function toInvite(row: InviteRow, roles: Roles): Invite {
  return {
    id: row.id,
    organization_id: row.organization_id,
    ...(row.email !== null && { email: row.email }),
    role: roles.shown(row.role),
    token_prefix: row.token_prefix,
    ...(row.token !== null && { token: row.token }),
    status: row.status,
    max_uses: row.max_uses,
    use_count: row.use_count,
    expires_at: row.expires_at.toISOString(),
    created_at: row.created_at.toISOString(),
  };
}
