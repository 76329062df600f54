import { type Static, Type } from "@sinclair/typebox";
import { AuthType } from "../../domain/credentials/auth-type.ts";
import {
  idField,
  nullable,
  REQUEST_ID_EXAMPLE,
  textField,
  timeField,
  ULID_EXAMPLE,
} from "../../domain/schemas/index.ts";
import { finalOutcomeSchema } from "./event.ts";

/** Returns the schema of an id, which the log shows exactly as it was written. */
const writtenId = (description: string) => nullable(Type.String({ description, examples: [ULID_EXAMPLE] }));

export const eventOutcomeSchema = Type.Union([Type.Literal("pending"), ...finalOutcomeSchema.anyOf], {
  description:
    "pending: the outcome is unknown, so the request may or may not have changed something. rejected: the gateway responded without calling the service. responded: the service responded. no_response: the service was called and did not respond.",
  title: "Event outcome",
  rule: "must be pending, rejected, responded or no_response",
});

const common = {
  id: idField("The id of the event, assigned when the event was stored. Lists are sorted by id."),
  occurred_at: timeField("The time when the gateway received the request."),
  request_id: textField("The request's X-Request-ID.", REQUEST_ID_EXAMPLE),
  organization_id: writtenId("The id of the organization whose log contains the event."),
};

const rest = {
  actor: Type.Object(
    {
      member_id: writtenId(
        "The id of the member who acted. On a user route, the id that the service reported, or null.",
      ),
      auth_type: AuthType,
      key_prefix: nullable(
        textField("The first characters of the key or session, or null for a JWT.", "ostiary-k-2-Zm9v"),
      ),
    },
    { additionalProperties: false, title: "Event actor", description: "The caller of the request." },
  ),
  service: textField("The service's name in the route configuration.", "widgets"),
  method: textField("The HTTP method.", "DELETE"),
  route: textField(
    "The matched path template, without the values of its params.",
    "/org/widgets/{widget_id}",
  ),
  params: Type.Record(Type.String(), Type.String(), {
    description: "The values of the path's params, by name.",
    examples: [{ widget_id: "42" }],
  }),
  ip: textField("The client's address.", "192.0.2.1"),
  user_agent: nullable(
    textField("The User-Agent of the request, at most 512 characters, or null without one.", "curl/8.5.0"),
  ),
  outcome: eventOutcomeSchema,
  status: nullable(
    Type.Integer({
      minimum: 100,
      maximum: 599,
      description:
        "The status of the gateway's response. Null while the outcome is pending, or if the client disconnected before the response.",
      examples: [204],
    }),
  ),
  details: nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "Details of the change, from the service.",
      examples: [{ name: { from: "Acme", to: "Analytical Engines" } }],
    }),
  ),
  created_id: writtenId("The id of the created resource."),
};

/** An audit event as shown to its organization, without the id of the person (AU-1, AU-5). */
export const organizationEventSchema = Type.Object(
  { ...common, ...rest },
  { title: "OrganizationAuditEvent", description: "An event of an organization's log." },
);

export const userEventSchema = Type.Object(
  {
    ...common,
    user_id: writtenId("The id of the person whose log contains the event."),
    ...rest,
  },
  { title: "UserAuditEvent", description: "An event of a person's log." },
);

export type UserEvent = Static<typeof userEventSchema>;
