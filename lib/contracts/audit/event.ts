import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { AuthType } from "../../domain/credentials/auth-type.ts";
import { FieldError } from "../../domain/errors/index.ts";
import { PATH_BYTES_MAX } from "../../domain/routes/maximum-sizes.ts";
import {
  boundedText,
  nullable,
  openShape,
  REQUEST_ID_EXAMPLE,
  textField,
  timeField,
  ULID_EXAMPLE,
} from "../../domain/schemas/index.ts";
import { AUDIT_ID_BYTES_MAX } from "./intent-headers.ts";

const id = (description: string) => boundedText(AUDIT_ID_BYTES_MAX, description, ULID_EXAMPLE);
const request_id = textField("The request's X-Request-ID.", REQUEST_ID_EXAMPLE);

/** The largest difference between an intent's `occurred_at` and audit's clock. Audit refuses other intents. */
export const INTENT_SKEW_MS_MAX = 24 * 60 * 60 * 1000;
export const USER_AGENT_LENGTH_MAX = 512;
const PARAMS_MAX = 32;

/** A path template, spelled as route configuration spells it (RG-18, RG-19). */
export const routeTemplate = Type.String({
  minLength: 1,
  maxLength: PATH_BYTES_MAX,
  pattern: "^[!-~]*$",
  rule: `must be a path template of 1 to ${PATH_BYTES_MAX} visible ASCII characters`,
  description: "The path of the route, as published.",
  examples: ["/org/widgets/{widget_id}"],
});

/** `Type.Record` would not check the value of a param whose name contains a line break. */
const paramsSchema = Type.Unsafe<Record<string, string>>(
  Type.Object(
    {},
    {
      additionalProperties: Type.String(),
      title: "Audit params",
      description: "The values of the path's params, by their names.",
      examples: [{ widget_id: "42" }],
      maxProperties: PARAMS_MAX,
      rule: `must be an object of at most ${PARAMS_MAX} params with text values`,
    },
  ),
);

/** The intent of an audited request: `PUT /internal/events/{request_id}` (AU-9, AU-51). */
export const intentSchema = Type.Object(
  {
    occurred_at: timeField("The time when the gateway received the request."),
    organization_id: nullable(
      id("The id of the organization whose log contains the event, or null in a person's log."),
    ),
    user_id: nullable(
      id("The id of the person whose log contains the event, or null in an organization's log."),
    ),
    actor: Type.Object(
      {
        member_id: nullable(id("The id of the member who acted, or null on a user route.")),
        auth_type: AuthType,
        key_prefix: nullable(
          Type.String({
            maxLength: 64,
            description: "The first characters of the key or session, or null for a token.",
            examples: ["ostiary-k-2-4f9m"],
          }),
        ),
      },
      openShape("Audit actor", "The caller of the request."),
    ),
    service: boundedText(128, "The service of the route.", "widgets"),
    method: boundedText(16, "The request's method.", "PATCH"),
    route: routeTemplate,
    params: paramsSchema,
    ip: boundedText(64, "The client's address.", "192.0.2.1"),
    user_agent: nullable(
      Type.String({
        maxLength: USER_AGENT_LENGTH_MAX,
        description: "The request's User-Agent, or null without one.",
        examples: ["curl/8.5.0"],
      }),
    ),
  },
  openShape("Audit intent", "A request that is about to be sent to its service."),
);
export type AuditIntent = Static<typeof intentSchema>;

export const finalOutcomeSchema = Type.Union(
  [Type.Literal("rejected"), Type.Literal("responded"), Type.Literal("no_response")],
  {
    description:
      "`rejected`: the gateway refused the request. `responded`: the service responded. `no_response`: the service did not respond.",
  },
);

/** The outcome of an audited request: `PATCH /internal/events/{request_id}`. */
export const outcomeSchema = Type.Object(
  {
    outcome: finalOutcomeSchema,
    status: nullable(
      Type.Integer({
        minimum: 100,
        maximum: 599,
        description: "The status that the client got, or null if the client got no response.",
        examples: [200],
      }),
    ),
    details: Type.Optional(
      nullable(
        Type.Record(Type.String(), Type.Unknown(), {
          description: "Details of the change, from the service.",
          examples: [{ name: { from: "Acme", to: "Analytical Engines" } }],
        }),
      ),
    ),
    created_id: Type.Optional(nullable(id("The id of the created resource."))),
    organization_id: Type.Optional(
      nullable(id("The id of an organization whose log also records the event.")),
    ),
    member_id: Type.Optional(nullable(id("The id of the member who acted in that organization."))),
  },
  openShape("Audit outcome", "The end of an audited request."),
);
export type AuditOutcome = Static<typeof outcomeSchema>;

export const BATCH_MAX = 100;
/** Room for BATCH_MAX outcomes with the longest details, but for numbers such as `1e9`, whose second form is longer. */
export const BATCH_BYTES_MAX = 1024 * 1024;

/** Each item is validated separately, so an invalid item does not block others. */
function batchOf(noun: "intents" | "outcomes", items: TSchema) {
  return Type.Array(Type.Unknown(), {
    minItems: 1,
    maxItems: BATCH_MAX,
    description: `The ${noun}, each with its \`request_id\`.`,
    openapi: { items },
  });
}

/** An intent in a batch: `POST /internal/intents`. */
export const identifiedIntentSchema = Type.Composite(
  [Type.Object({ request_id }), intentSchema],
  openShape("Identified intent", "An intent with the id of its request."),
);
export type IdentifiedIntent = Static<typeof identifiedIntentSchema>;

export const intentsSchema = Type.Object(
  {
    intents: batchOf("intents", identifiedIntentSchema),
  },
  openShape("Intent batch", "Intents of several requests."),
);

/** An outcome in a batch: `POST /internal/outcomes`. */
export const identifiedOutcomeSchema = Type.Composite(
  [Type.Object({ request_id }), outcomeSchema],
  openShape("Identified outcome", "An outcome with the id of its request."),
);
export type IdentifiedOutcome = Static<typeof identifiedOutcomeSchema>;

export const outcomesSchema = Type.Object(
  {
    outcomes: batchOf("outcomes", identifiedOutcomeSchema),
  },
  openShape("Outcome batch", "Outcomes of several requests."),
);

function resultsSchema<Result extends TSchema>(noun: "Intent" | "Outcome", result: Result) {
  return Type.Object(
    {
      results: Type.Array(
        Type.Object(
          {
            request_id: nullable(request_id, {
              description: "The id of the request, or null if the item has no id.",
            }),
            result,
            fields: Type.Optional(Type.Array(FieldError, { description: "The invalid fields of the item." })),
          },
          { title: `${noun} result`, description: "The result of one item." },
        ),
        { description: "One result for each item, in the order of the request." },
      ),
    },
    { title: `${noun} results`, description: "The results, in the order of the request." },
  );
}

const invalid = Type.Literal("invalid");

export const intentResultsSchema = resultsSchema(
  "Intent",
  Type.Union([Type.Literal("created"), Type.Literal("existing"), invalid], {
    description:
      "`created` if the intent was written, `existing` if the log already had it, `invalid` if it was refused.",
  }),
);
export type IntentWriteResult = Static<typeof intentResultsSchema>["results"][number];

export const outcomeResultsSchema = resultsSchema(
  "Outcome",
  Type.Union([Type.Literal("applied"), Type.Literal("already_final"), Type.Literal("not_found"), invalid], {
    description:
      "`applied` if the outcome was written, `already_final` if the event already had an outcome. `not_found` if the log has no event of the request, `invalid` if the outcome was refused.",
  }),
);
export type OutcomeWriteResult = Static<typeof outcomeResultsSchema>["results"][number];
