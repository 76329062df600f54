import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { AuthType } from "../../domain/credentials/auth-type.ts";
import { FieldError } from "../../domain/errors/index.ts";
import { PATH_BYTES_MAX } from "../../domain/routes/limits.ts";
import { AUDIT_ID_BYTES_MAX } from "./headers.ts";

const nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);
const id = Type.String({ minLength: 1, maxLength: AUDIT_ID_BYTES_MAX });

/** Time between the client's clock and the service's beyond which an intent is refused. */
export const INTENT_SKEW_MS_MAX = 24 * 60 * 60 * 1000;
export const USER_AGENT_LENGTH_MAX = 512;
/** As many as a path may have. */
const PARAMS_MAX = 32;

/** A path template, spelled as route configuration spells it (Gateway specification, Other constants). */
export const routeTemplate = Type.String({
  minLength: 1,
  maxLength: PATH_BYTES_MAX,
  pattern: "^[!-~]*$",
  rule: `must be a path template of 1 to ${PATH_BYTES_MAX} visible ASCII characters`,
});

/** Not `Type.Record`, whose pattern leaves values of names with a line break unchecked. */
const paramsSchema = Type.Unsafe<Record<string, string>>(
  Type.Object(
    {},
    {
      additionalProperties: Type.String(),
      maxProperties: PARAMS_MAX,
      rule: `must be an object of at most ${PARAMS_MAX} params with text values`,
    },
  ),
);

/** A newer gateway can send more: what is unknown is ignored. */
const open = { additionalProperties: true };

/**
 * The intent of an audited request: `PUT /internal/events/{request_id}` (Identity specification, Audit
 * internal API).
 */
export const intentSchema = Type.Object(
  {
    occurred_at: Type.String({
      description: "When the gateway received the request: RFC 3339, UTC, milliseconds.",
    }),
    organization_id: nullable(id),
    user_id: nullable(id),
    actor: Type.Object(
      {
        member_id: nullable(id),
        auth_type: AuthType,
        key_prefix: nullable(Type.String({ maxLength: 64 })),
      },
      open,
    ),
    service: Type.String({ minLength: 1, maxLength: 128 }),
    method: Type.String({ minLength: 1, maxLength: 16 }),
    route: routeTemplate,
    params: paramsSchema,
    ip: Type.String({ minLength: 1, maxLength: 64 }),
    user_agent: nullable(Type.String({ maxLength: USER_AGENT_LENGTH_MAX })),
  },
  open,
);
export type AuditIntent = Static<typeof intentSchema>;

export const finalOutcomeSchema = Type.Union([
  Type.Literal("rejected"),
  Type.Literal("responded"),
  Type.Literal("no_response"),
]);
export type FinalOutcome = Static<typeof finalOutcomeSchema>;

/** The outcome of an audited request: `PATCH /internal/events/{request_id}`. */
export const outcomeSchema = Type.Object(
  {
    outcome: finalOutcomeSchema,
    status: nullable(Type.Integer({ minimum: 100, maximum: 599 })),
    details: Type.Optional(nullable(Type.Record(Type.String(), Type.Unknown()))),
    created_id: Type.Optional(nullable(id)),
    organization_id: Type.Optional(nullable(id)),
    member_id: Type.Optional(nullable(id)),
  },
  open,
);
export type AuditOutcome = Static<typeof outcomeSchema>;

/** Intents, or outcomes, that one call may have. */
export const BATCH_MAX = 100;
/** A body with as many outcomes as it may have, each with the longest details; details of numbers that grow are rare. */
export const BATCH_BYTES_MAX = 1024 * 1024;

/** An intent among others: `POST /internal/intents`. */
export const identifiedIntentSchema = Type.Composite(
  [Type.Object({ request_id: Type.String() }), intentSchema],
  open,
);
export type IdentifiedIntent = Static<typeof identifiedIntentSchema>;

/** Each intent is checked by itself: one that is wrong keeps no other from being written. */
export const intentsSchema = Type.Object(
  { intents: Type.Array(Type.Unknown(), { minItems: 1, maxItems: BATCH_MAX }) },
  open,
);

/** An outcome among others: `POST /internal/outcomes`. */
export const identifiedOutcomeSchema = Type.Composite(
  [Type.Object({ request_id: Type.String() }), outcomeSchema],
  open,
);
export type IdentifiedOutcome = Static<typeof identifiedOutcomeSchema>;

/** Each outcome is checked by itself: one that is wrong keeps no other from being written. */
export const outcomesSchema = Type.Object(
  { outcomes: Type.Array(Type.Unknown(), { minItems: 1, maxItems: BATCH_MAX }) },
  open,
);

/** What became of each write of a batch, in their order. */
function resultsSchema<Result extends TSchema>(result: Result) {
  return Type.Object({
    results: Type.Array(
      Type.Object({
        request_id: nullable(Type.String({ description: "Null when none was given." })),
        result,
        fields: Type.Optional(
          Type.Array(FieldError, { description: "What is wrong with one that is invalid." }),
        ),
      }),
    ),
  });
}

const invalid = Type.Literal("invalid");

export const intentResultsSchema = resultsSchema(
  Type.Union([Type.Literal("created"), Type.Literal("existing"), invalid]),
);
export type IntentAnswer = Static<typeof intentResultsSchema>["results"][number];

export const outcomeResultsSchema = resultsSchema(
  Type.Union([Type.Literal("applied"), Type.Literal("already_final"), Type.Literal("not_found"), invalid]),
);
export type OutcomeAnswer = Static<typeof outcomeResultsSchema>["results"][number];
