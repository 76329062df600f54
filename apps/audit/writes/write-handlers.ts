import type { Clock } from "@ostiary/lib/async";
import {
  intentResultsSchema,
  intentSchema,
  intentsSchema,
  outcomeResultsSchema,
  outcomeSchema,
  outcomesSchema,
} from "@ostiary/lib/contracts/audit";
import {
  AUDIT_EVENTS_PATH,
  AUDIT_INTENTS_PATH,
  AUDIT_OUTCOMES_PATH,
} from "@ostiary/lib/contracts/internal-api";
import { notFound, validationError } from "@ostiary/lib/domain/errors";
import { REQUEST_ID_EXAMPLE } from "@ostiary/lib/domain/schemas";
import { describeOperations } from "@ostiary/lib/openapi";
import { bodyErrors } from "@ostiary/lib/runtime/http";
import type { Metrics } from "@ostiary/lib/runtime/telemetry";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { refuse } from "../field-problems.ts";
import { resultCounter, writeResponses } from "../write-results.ts";
import { intentProblems, requestIdProblems } from "./intent.ts";
import { notAUserRoute, outcomeProblems } from "./outcome.ts";
import { type EventWriter, writeIntents, writeOutcomes } from "./write-commands.ts";

const operations = describeOperations(
  {
    putEventIntent: [
      "Write the intent of a request",
      "Creates a pending event, unless the event exists. The audit service ignores unknown fields.",
    ],
    patchEventOutcome: [
      "Write the outcome of a request",
      "Makes a pending event final. A final event stays as it is.",
    ],
    postEventIntents: [
      "Write the intents of several requests",
      "Handles each intent as PUT does. If one intent is invalid, the others are still written.",
    ],
    postEventOutcomes: [
      "Write the outcomes of several requests",
      "Handles each outcome as PATCH does. If one outcome is invalid, the others are still applied.",
    ],
  },
  ["Writes"],
);

function writeCounters(metrics: Metrics) {
  return {
    intent: resultCounter(metrics, {
      name: "audit_intents_total",
      help: "Intents by result: created, or existing if the event existed already.",
      results: ["created", "existing"],
    }),
    outcome: resultCounter(metrics, {
      name: "audit_outcomes_total",
      help: "Outcomes by result: applied, already_final, or not_found if the log has no event of the request.",
      results: ["applied", "already_final", "not_found"],
    }),
  };
}

interface WriteRoutesDeps {
  writer: EventWriter;
  metrics: ReturnType<typeof writeCounters>;
  clock: Clock;
}

const EVENT_PATH = `${AUDIT_EVENTS_PATH}/:request_id` as const;

/** The path parameter, which {@link requestIdProblems} checks. */
const eventParams = Type.Object({
  request_id: Type.String({
    description: "The request's X-Request-ID.",
    examples: [REQUEST_ID_EXAMPLE],
    openapi: { minLength: 1, maxLength: 128 },
  }),
});

const failures = bodyErrors("UNAUTHORIZED", "NOT_FOUND");

export function writeHandlers(given: Omit<WriteRoutesDeps, "metrics"> & { metrics: Metrics }) {
  const deps = { ...given, metrics: writeCounters(given.metrics) };
  return new Elysia({ name: "audit-writes", normalize: false }).use(singleWrites(deps)).use(batches(deps));
}

/** Serves writes of one event (AU-9, AU-17). */
function singleWrites({ writer, metrics, clock }: WriteRoutesDeps) {
  return new Elysia({ normalize: false })
    .put(
      EVENT_PATH,
      async ({ params, body, status }) => {
        const [result = "existing"] = await writer.intents([{ ...params, intent: body }]);
        metrics.intent(result);
        return result === "created" ? status(201, { result }) : { result };
      },
      {
        // this check lists every problem; the schema check, which runs later, would list only some
        transform: ({ params, body }) =>
          refuse([...requestIdProblems(params.request_id), ...intentProblems(body, clock.now())]),
        params: eventParams,
        body: intentSchema,
        response: {
          ...writeResponses(
            "Intent",
            "`created` if the event was written, or `existing` if the log had the request already.",
            {
              existing: "The log has this request already; nothing was changed.",
              created: "The event was written.",
            },
          ),
          ...failures,
        },
        detail: operations.putEventIntent,
      },
    )
    .patch(
      EVENT_PATH,
      async ({ params, body, status }) => {
        const { request_id } = params;
        const [result = "not_found"] = await writer.outcomes([{ request_id, outcome: body }]);
        if (result === "not_a_user_route") throw validationError([notAUserRoute]);
        metrics.outcome(result);
        if (result === "not_found") throw notFound("audit_event", request_id);
        return status(204, undefined);
      },
      {
        transform: ({ params, body }) =>
          refuse([...requestIdProblems(params.request_id), ...outcomeProblems(body)]),
        params: eventParams,
        body: outcomeSchema,
        response: {
          204: Type.Undefined({ description: "The outcome was applied, or the event was already final." }),
          ...failures,
        },
        detail: operations.patchEventOutcome,
      },
    );
}

/** Serves writes of many events (AU-24). */
function batches({ writer, metrics, clock }: WriteRoutesDeps) {
  return new Elysia({ normalize: false })
    .post(
      AUDIT_INTENTS_PATH,
      async ({ body }) => {
        const results = await writeIntents(writer, body.intents, clock.now());
        for (const { result } of results) if (result !== "invalid") metrics.intent(result);
        return { results };
      },
      {
        body: intentsSchema,
        response: {
          200: {
            ...intentResultsSchema,
            description: "The result of each intent, in the order of the request.",
          },
          ...bodyErrors("UNAUTHORIZED"),
        },
        detail: operations.postEventIntents,
      },
    )
    .post(
      AUDIT_OUTCOMES_PATH,
      async ({ body }) => {
        const results = await writeOutcomes(writer, body.outcomes);
        for (const { result } of results) if (result !== "invalid") metrics.outcome(result);
        return { results };
      },
      {
        body: outcomesSchema,
        response: {
          200: {
            ...outcomeResultsSchema,
            description: "The result of each outcome, in the order of the request.",
          },
          ...bodyErrors("UNAUTHORIZED"),
        },
        detail: operations.postEventOutcomes,
      },
    );
}
