import type { Clock } from "@ostiary/lib/async";
import { describeOperations } from "@ostiary/lib/openapi";
import { errors, page, pageRequest } from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { Elysia } from "elysia";
import type { Exports } from "../exports/export.ts";
import { type ExportFormat, exportablePage, exportFormat, TOO_MANY_EXPORTS } from "../exports/formats.ts";
import { refuse } from "../field-problems.ts";
import { selectQuotas } from "./quota-sql.ts";
import { type PlatformServices, toUsage, type Usage, UsagePage, usageForm } from "./usage-columns.ts";
import {
  cursorOf,
  rangeOf,
  type UsageQuery,
  usageParams,
  usageProblems,
  usageQuery,
} from "./usage-parameters.ts";
import { selectGaps, selectUsage, streamUsage, type UsageRequest } from "./usage-sql.ts";

const operations = describeOperations(
  {
    listUsage: [
      "Read an organization's usage",
      "Requests, refusals, failures, bytes and time, grouped by `by`. The items are in the order of their ids. Gateways report every 10 seconds. A request is counted when it ends, in the counts of the hour in which it began. With `Accept: text/csv` or `application/x-ndjson` the response is an export of all items, and `limit` does not apply.",
    ],
  },
  ["Usage"],
);

/** A gateway that has sent no report for this long counts as ended: several of its reports are overdue. */
const SILENCE_MS = 60_000;
const GAPS_MAX = 100;

interface UsageHandlersDeps {
  reads: Database;
  exports: Exports;
  platform: PlatformServices;
  clock: Clock;
}

/** Serves the usage of organizations (AU-123) and its exports (AU-114). */
export function usageHandlers({ reads, exports, platform, clock }: UsageHandlersDeps) {
  const pageOf = async (request: UsageRequest, query: UsageQuery, nowMs: number) => {
    const { limit } = pageRequest(query);
    const found = await selectUsage(reads, request, limit + 1);
    const { items, has_more } = page(found, limit);
    const gaps = await selectGaps(reads, request, nowMs - SILENCE_MS, GAPS_MAX);
    return {
      usage: items.map((row) => toUsage(row, request.by, request, platform)),
      has_more,
      gaps: gaps.map((after) => ({ after })),
      quotas: await selectQuotas(reads, request.organization_id, nowMs),
    };
  };
  const exportOf = (http: Request, request: UsageRequest, format: ExportFormat) =>
    exports.respond(http, format, {
      log: { kind: "organization", id: request.organization_id },
      form: usageForm(request.by),
      batches: shownUsage(reads, request, platform),
    });
  return new Elysia({ name: "audit-usage", normalize: false }).get(
    "/organizations/:organization_id/usage",
    ({ request: http, params: { organization_id }, query, set }) => {
      const nowMs = clock.now();
      const { by = "day", include_platform } = query;
      const request: UsageRequest = {
        organization_id,
        by,
        starting_after: cursorOf(query),
        ...rangeOf(query, nowMs),
        hidden: include_platform === "true" ? [] : [...platform],
      };
      const format = exportFormat(http.headers.get("accept"));
      if (format !== null) return exportOf(http, request, format);
      set.headers.vary = "Accept";
      return pageOf(request, query, nowMs);
    },
    {
      transform: ({ request, params, query }) =>
        refuse(usageProblems(request, params.organization_id, query, clock.now())),
      params: usageParams,
      query: usageQuery,
      response: { 200: exportablePage(UsagePage), ...errors(TOO_MANY_EXPORTS) },
      detail: operations.listUsage,
    },
  );
}

async function* shownUsage(
  database: Database,
  request: UsageRequest,
  platform: PlatformServices,
): AsyncGenerator<Usage[], void, void> {
  for await (const found of streamUsage(database, request)) {
    yield found.map((row) => toUsage(row, request.by, request, platform));
  }
}
