import type { Clock } from "@ostiary/lib/async";
import { QUOTA_COUNTS_PATH, USAGE_EVENTS_PATH, USAGE_PATH } from "@ostiary/lib/contracts/internal-api";
import {
  QuotaCounts,
  QuotaLookup,
  USAGE_INSTANCE_PATTERN,
  UsageReport,
} from "@ostiary/lib/contracts/usage-contract";
import { fieldErrors } from "@ostiary/lib/domain/errors";
import { describeOperations } from "@ostiary/lib/openapi";
import {
  bodyErrors,
  errors,
  FEED_LIMIT_MAX,
  feedQuery,
  page,
  pageRequest,
  pageSchema,
  response,
  unknownFeedCursor,
} from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Metrics } from "@ostiary/lib/runtime/telemetry";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { refuse } from "../field-problems.ts";
import { resultCounter, writeResponses } from "../write-results.ts";
import { selectUsageEvents, usageEventExists } from "./feed-sql.ts";
import { questionProblems, reportProblems } from "./problems.ts";
import { selectQuotaCounts } from "./quota-sql.ts";
import { addReport } from "./report-sql.ts";
import type { PlatformServices } from "./usage-columns.ts";
import { toUsageEvent, UsageEvent } from "./usage-event.ts";

const operations = describeOperations(
  {
    listUsageEvents: [
      "Read the usage feed",
      "Usage of all organizations as CloudEvents, oldest first. The usage of an hour appears after the hour ends. A reader that passes the last id it saw gets every event exactly once.",
    ],
    putUsageReport: [
      "Report usage",
      "Adds the counts of a report. If the number is not higher than the number of the instance's last report, nothing changes.",
    ],
    readQuotaCounts: [
      "Read the counts of quotas",
      "How many requests gateways have reported as charged to each quota. A quota without reports has 0.",
    ],
  },
  ["Usage"],
);

interface InternalUsageDeps {
  reads: Database;
  writes: Database;
  metrics: Metrics;
  clock: Clock;
  platform: PlatformServices;
}

/** Serves the reports of gateways, the counts of quotas and the feed of usage. */
export function internalUsageHandlers(deps: InternalUsageDeps) {
  return new Elysia({ name: "audit-internal-usage", normalize: false })
    .use(reportHandlers(deps))
    .use(quotaHandlers(deps))
    .use(feedHandlers(deps));
}

export const REPORT_PATH = `${USAGE_PATH}/:instance/:number` as const;

const reportParams = Type.Object({
  instance: Type.String({
    pattern: USAGE_INSTANCE_PATTERN,
    rule: "must be 1 to 128 letters, digits, dots, hyphens or underscores",
    description: "The gateway process, as `GET /gateways` of the registry names it.",
    examples: ["gateway-1-2f6a1c0d"],
  }),
  number: Type.String({
    pattern: "^[1-9][0-9]{0,14}$",
    rule: "must be a whole number from 1 to 999999999999999",
    description: "The number of the report. It rises with each report of an instance.",
    openapi: { type: "integer", minimum: 1, examples: [4711] },
  }),
});

/** Serves the reports of gateways (AU-120). */
function reportHandlers({ writes, metrics, clock }: InternalUsageDeps) {
  const count = resultCounter(metrics, {
    name: "audit_usage_reports_total",
    help: "Usage reports from gateways by result: created for a new report, existing for a repeated one.",
    results: ["created", "existing"],
  });
  return new Elysia({ name: "audit-usage-reports", normalize: false }).put(
    REPORT_PATH,
    async ({ params: { instance, number }, body, status }) => {
      const result = await addReport(writes, { instance, number: Number(number) }, body);
      count(result);
      return result === "created" ? status(201, { result }) : { result };
    },
    {
      // lists every problem; the schema check, which runs later, would list only some
      transform: ({ params, body }) =>
        refuse([...fieldErrors(reportParams, params), ...reportProblems(body, clock.now())]),
      params: reportParams,
      body: UsageReport,
      response: {
        ...writeResponses(
          "Usage report",
          "`created` if the counts were added, or `existing` if an earlier request had added them.",
          {
            existing: "The report was counted before; nothing was changed.",
            created: "The report was counted.",
          },
        ),
        ...bodyErrors("UNAUTHORIZED"),
      },
      detail: operations.putUsageReport,
    },
  );
}

/** Serves the stored counts of quotas to gateways whose counter store lost them (AU-192). */
function quotaHandlers({ reads, clock }: InternalUsageDeps) {
  return new Elysia({ name: "audit-quotas", normalize: false }).post(
    QUOTA_COUNTS_PATH,
    async ({ body: { quotas } }) => ({ counts: await selectQuotaCounts(reads, quotas) }),
    {
      // lists every problem; the schema check, which runs later, would list only some
      transform: ({ body }) => refuse(questionProblems(body, clock.now())),
      body: QuotaLookup,
      response: { 200: QuotaCounts, ...bodyErrors("UNAUTHORIZED") },
      detail: operations.readQuotaCounts,
    },
  );
}

/** Serves the feed of usage to billing systems (AU-128). */
function feedHandlers({ reads, platform }: InternalUsageDeps) {
  return new Elysia({ name: "audit-usage-feed", normalize: false }).get(
    USAGE_EVENTS_PATH,
    async ({ query }) => {
      const { limit, starting_after } = pageRequest(query, FEED_LIMIT_MAX);
      const found = await reads.run("list_usage_events", async (orm) => {
        if (starting_after !== null && !(await usageEventExists(orm, starting_after)))
          throw unknownFeedCursor();
        return selectUsageEvents(orm, starting_after, limit + 1);
      });
      const { items, has_more } = page(found, limit);
      return { usage_events: items.map((row) => toUsageEvent(row, platform)), has_more };
    },
    {
      query: feedQuery,
      response: {
        200: response(pageSchema("usage_events", UsageEvent), "A page."),
        ...errors("UNAUTHORIZED"),
      },
      detail: operations.listUsageEvents,
    },
  );
}
