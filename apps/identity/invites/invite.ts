import { type Static, Type } from "@sinclair/typebox";
import { createdAt, idField, nullable, personText, shapeOf, shownRole, timeField } from "../fields.ts";
import { type Roles, roleField } from "../roles/roles.ts";
import type { invites } from "../tables.ts";

const EXPIRES_SECONDS_MIN = 60;
export const EXPIRES_SECONDS_DEFAULT = 7 * 24 * 60 * 60;
const EXPIRES_SECONDS_MAX = 30 * 24 * 60 * 60;
/** The largest number the column holds. */
const MAX_USES_MAX = 2_147_483_647;
const EMAIL_LENGTH_MAX = 320;

/** A token to join an organization (Identity specification, Invite). */
export const Invite = Type.Object(
  {
    id: idField("The invite_id."),
    organization_id: idField("The organization."),
    email: Type.Optional(Type.String({ description: "Shown, never mailed.", examples: ["ada@example.com"] })),
    role: shownRole,
    token_prefix: Type.String({
      description: "The part of the token that may be shown.",
      examples: ["inv_Zm9v"],
    }),
    token: Type.Optional(
      Type.String({
        description: "Present while the invite is active.",
        examples: ["inv_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF"],
      }),
    ),
    status: Type.Union(
      [Type.Literal("active"), Type.Literal("redeemed"), Type.Literal("revoked"), Type.Literal("expired")],
      {
        title: "Invite status",
        description: "Only an active invite can be redeemed; the other states are final.",
      },
    ),
    max_uses: nullable(
      Type.Integer({
        minimum: 1,
        description: "How often it may be redeemed; null: any number of times.",
        examples: [5],
      }),
    ),
    use_count: Type.Integer({ minimum: 0, description: "How often it has been redeemed.", examples: [2] }),
    expires_at: timeField("When it stops being active."),
    created_at: createdAt,
  },
  shapeOf("Invite", "A token to join an organization."),
);
export type Invite = Static<typeof Invite>;

export function createInviteBody(roles: Roles) {
  return Type.Object(
    {
      email: Type.Optional(
        personText(EMAIL_LENGTH_MAX, {
          description: "Shown with the invite, never mailed.",
          examples: ["ada@example.com"],
        }),
      ),
      role: roleField(roles, "Left out: default_role. Whoever redeems the invite is given it."),
      expires_in_seconds: Type.Optional(
        Type.Integer({
          minimum: EXPIRES_SECONDS_MIN,
          maximum: EXPIRES_SECONDS_MAX,
          description: "Seconds until it expires; seven days when left out.",
          examples: [EXPIRES_SECONDS_DEFAULT],
        }),
      ),
      max_uses: Type.Optional(
        nullable(
          Type.Integer({
            minimum: 1,
            maximum: MAX_USES_MAX,
            description: "Once when left out; null: any number of times.",
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

export const RedeemInviteBody = Type.Object(
  {
    token: Type.String({
      minLength: 1,
      description: "The invite's token.",
      examples: ["inv_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF"],
      rule: "must be the invite's token",
    }),
  },
  shapeOf("Redeem invite request", "The invite to redeem."),
);

export type InviteRow = Omit<typeof invites.$inferSelect, "token_hash">;

/** Whether the time of an invite that is stored as active is over. */
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
