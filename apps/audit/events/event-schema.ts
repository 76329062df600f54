import { authTypeSchema, finalOutcomeSchema } from "@ostiary/lib/audit";
import { type Static, type TSchema, Type } from "@sinclair/typebox";

const nullable = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Union([schema, Type.Null()], { description });

export const eventOutcomeSchema = Type.Union([Type.Literal("pending"), ...finalOutcomeSchema.anyOf], {
  description:
    "pending: no outcome is known, so neither is whether something changed. rejected: the gateway answered without calling the service. responded: the service answered. no_response: the service was called and did not answer.",
  rule: "must be pending, rejected, responded or no_response",
});

const common = {
  id: Type.String({ description: "ULID, given when the event was written. Lists are in its order." }),
  occurred_at: Type.String({ description: "When the gateway received the request: RFC 3339, UTC." }),
  request_id: Type.String({ description: "The request's X-Request-ID." }),
  organization_id: nullable(Type.String(), "The organization whose log this event is in."),
};

const rest = {
  actor: Type.Object({
    member_id: nullable(
      Type.String(),
      "The acting member; on a user route the one that the service named, else null.",
    ),
    auth_type: authTypeSchema,
    key_prefix: nullable(Type.String(), "The credential's display prefix; null for a JWT."),
  }),
  service: Type.String({ description: "The service's name in the route configuration." }),
  method: Type.String({ description: "The HTTP method." }),
  route: Type.String({ description: "The path template that matched, never the path." }),
  params: Type.Record(Type.String(), Type.String(), { description: "Path params by name." }),
  ip: Type.String({ description: "The client's address." }),
  user_agent: nullable(Type.String(), "At most 512 characters."),
  outcome: eventOutcomeSchema,
  status: nullable(
    Type.Integer(),
    "What the gateway answered; null while pending or when the client left before an answer.",
  ),
  details: nullable(Type.Record(Type.String(), Type.Unknown()), "What the service said about the change."),
  created_id: nullable(Type.String(), "The id of what was created."),
};

/** An audit event as its organization reads it: without the person (Identity specification, Audit event). */
export const organizationEventSchema = Type.Object(
  { ...common, ...rest },
  { title: "OrganizationAuditEvent", description: "An event of an organization's log." },
);

/** An audit event as the person reads it. */
export const userEventSchema = Type.Object(
  {
    ...common,
    user_id: nullable(Type.String(), "The person whose log this event is in."),
    ...rest,
  },
  { title: "UserAuditEvent", description: "An event of a person's log." },
);

export type OrganizationEvent = Static<typeof organizationEventSchema>;
export type UserEvent = Static<typeof userEventSchema>;
