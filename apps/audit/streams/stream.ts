import {
  idField,
  mapOf,
  mostlyNull,
  nullable,
  RFC_3339_TIME,
  TIME_RULE,
  timeField,
} from "@ostiary/lib/domain/schemas";
import { type Static, Type } from "@sinclair/typebox";
import { PARAM_LENGTH_MAX, pageQuerySchema } from "../events/event-parameters.ts";
import { exactFilters } from "../events/filter.ts";
import { URL_LENGTH_MAX } from "../receivers/targets.ts";

/** The maximum number of streams in one organization (AU-92). */
export const STREAMS_MAX = 10;
const PARAM_NAME_LENGTH_MAX = 128;
const PARAMS_MAX = 32;
export const OVERLAP_DEFAULT_S = 86_400;
const OVERLAP_MAX_S = 604_800;

/** The refusal of a stream beyond {@link STREAMS_MAX}. */
export const tooManyStreams = {
  code: "CONFLICT",
  message: `An organization has at most ${STREAMS_MAX} streams: delete one first.`,
  details: { field: "streams", value: String(STREAMS_MAX) },
} as const;

/** The refusal of an operation that needs a secret, on a service without a key for secrets. */
export const streamsOff = {
  code: "CONFLICT",
  message: "Streams are off: the operator has not set AUDIT_STREAM_KEY_FILE.",
  details: { field: "AUDIT_STREAM_KEY_FILE", value: "unset" },
} as const;

/** The refusal of a test request beyond the limit. */
export const tooManyTestCalls = {
  code: "RATE_LIMITED",
  message: "Too many test calls are running. Try again in a moment.",
} as const;

const closed = { additionalProperties: false };

const url = Type.String({
  minLength: 1,
  maxLength: URL_LENGTH_MAX,
  description:
    "Where events are sent by POST. https, a public address, and port 443 unless the operator allows others.",
  examples: ["https://siem.example.com/ostiary"],
  rule: `must be an https:// URL of at most ${URL_LENGTH_MAX} characters`,
});

const format = Type.Union([Type.Literal("ostiary"), Type.Literal("ocsf")], {
  description: "ostiary: entries with their proof. ocsf: API Activity of the Open Cybersecurity Schema.",
  examples: ["ostiary"],
  rule: "must be ostiary or ocsf",
});

/** The filter for the events that a stream delivers. An event must match all fields of the filter (AU-93). */
export const StreamFilter = Type.Object(
  {
    ...Type.Pick(pageQuerySchema, exactFilters).properties,
    params: Type.Optional(
      mapOf(
        Type.String({
          minLength: 1,
          maxLength: PARAM_NAME_LENGTH_MAX,
          rule: "must be the name of a path param",
        }),
        Type.String({ maxLength: PARAM_LENGTH_MAX, examples: ["42"] }),
        {
          maxProperties: PARAMS_MAX,
          rule: `must be an object of at most ${PARAMS_MAX} path params with text values`,
          description: "Events with these path params.",
          examples: [{ widget_id: "42" }],
        },
      ),
    ),
  },
  {
    ...closed,
    title: "AuditStreamFilter",
    description: "The conditions of a stream. The stream delivers an event only if every condition holds.",
    rule: "must be an object of filters, or null",
    examples: [{ service: "widgets" }],
  },
);
export type StreamFilter = Static<typeof StreamFilter>;

const filter = mostlyNull(StreamFilter, {
  description: "The conditions that a delivered event meets, or null to deliver every event.",
});

export const CreateStreamBody = Type.Object(
  {
    url,
    format: Type.Optional(format),
    filter: Type.Optional(filter),
    from_position: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          "The position of the first entry that the stream delivers. Without from_position and from_time, the stream begins now.",
        examples: [1],
      }),
    ),
    from_time: Type.Optional({
      ...Type.String({
        description: "The stream begins with the first entry of an event of this time or later. RFC 3339.",
        examples: ["2026-01-31T12:00:00Z"],
        rule: TIME_RULE,
        openapi: { format: "date-time" },
      }),
      format: RFC_3339_TIME,
    }),
  },
  { ...closed, title: "CreateAuditStream", description: "A new stream." },
);
export type CreateStreamBody = Static<typeof CreateStreamBody>;

export const UpdateStreamBody = Type.Object(
  {
    url: Type.Optional(url),
    format: Type.Optional(format),
    filter: Type.Optional(filter),
    status: Type.Optional(
      Type.Union([Type.Literal("active"), Type.Literal("paused")], {
        description: "paused: nothing is delivered. active: delivery continues at once where it stopped.",
        examples: ["paused"],
        rule: "must be active or paused",
      }),
    ),
  },
  {
    ...closed,
    minProperties: 1,
    title: "UpdateAuditStream",
    description: "The changes to a stream; omitted fields stay as they are.",
  },
);
export type UpdateStreamBody = Static<typeof UpdateStreamBody>;

export const RotateSecretBody = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: OVERLAP_MAX_S,
        default: OVERLAP_DEFAULT_S,
        description: "The time for which the old secret signs in addition to the new one.",
        examples: [OVERLAP_DEFAULT_S],
      }),
    ),
  },
  {
    ...closed,
    title: "RotateAuditStreamSecret",
    description: "How a new secret replaces a stream's secret.",
  },
);

/** A stream as its organization sees it (AU-92). */
export const AuditStream = Type.Object(
  {
    id: idField("The stream."),
    url,
    format,
    filter,
    status: Type.Union([Type.Literal("active"), Type.Literal("failing"), Type.Literal("paused")], {
      description:
        "failing: the last delivery request failed, and the service retries. paused: you paused the stream, the receiver responded with 410, or the receiver failed for 72 h.",
      examples: ["active"],
    }),
    failing_since: mostlyNull(
      timeField("The time of the first of the consecutive delivery requests that failed."),
    ),
    last_error: mostlyNull(
      Type.String({
        description: "The reason why the last delivery request failed.",
        examples: ["The receiver responded with 500."],
      }),
    ),
    last_delivered: nullable(
      Type.Object(
        {
          position: Type.Integer({
            minimum: 1,
            description: "The position of the entry in the log.",
            examples: [4711],
          }),
          occurred_at: timeField("The time of the entry's event."),
        },
        {
          ...closed,
          title: "AuditStreamPosition",
          description: "The last entry that the receiver accepted.",
        },
      ),
      { description: "The last entry that the receiver accepted, or null before the first." },
    ),
    lag_events: Type.Integer({
      minimum: 0,
      description: "The number of entries of the log that the stream has not delivered yet.",
      examples: [0],
    }),
    created_at: timeField("When the stream was created."),
    updated_at: timeField("When the stream was last changed."),
  },
  { ...closed, title: "AuditStream", description: "Delivers an organization's events to a receiver." },
);
export type AuditStream = Static<typeof AuditStream>;

export const AuditStreamWithSecret = Type.Object(
  {
    ...AuditStream.properties,
    secret: Type.String({
      description:
        "The secret that signs every delivery request (Standard Webhooks). Only this response contains it.",
      examples: ["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"],
    }),
  },
  { ...closed, title: "AuditStreamWithSecret", description: "A stream with its secret." },
);
export type AuditStreamWithSecret = Static<typeof AuditStreamWithSecret>;

export const AuditStreamTest = Type.Object(
  {
    delivered: Type.Boolean({
      description: "Whether the receiver responded with a 2xx status.",
      examples: [true],
    }),
    status: nullable(
      Type.Integer({
        minimum: 100,
        maximum: 599,
        description: "The status code of the receiver's response.",
        examples: [204],
      }),
    ),
    error: mostlyNull(
      Type.String({
        description: "The reason why the test request failed.",
        examples: ["The receiver responded with 500."],
      }),
    ),
    duration_ms: Type.Integer({
      minimum: 0,
      description: "The duration of the test request.",
      examples: [87],
    }),
  },
  { ...closed, title: "AuditStreamTest", description: "The result of a test request." },
);
export type AuditStreamTest = Static<typeof AuditStreamTest>;
