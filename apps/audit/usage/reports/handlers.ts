import type { Clock } from "@ostiary/lib/async";
import { USAGE_PATH } from "@ostiary/lib/contracts/internal-api";
import { USAGE_INSTANCE_PATTERN, UsageReport } from "@ostiary/lib/contracts/usage";
import { fieldErrors } from "@ostiary/lib/domain/errors";
import { bodyErrors } from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { refuse } from "../../field-problems.ts";
import { operations } from "../operation-texts.ts";
import type { UsageMetrics } from "./metrics.ts";
import { reportProblems } from "./report.ts";
import { addReport } from "./sql.ts";

interface ReportHandlersDeps {
  database: Database;
  metrics: UsageMetrics;
  clock: Clock;
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

const RESULT = "`created` if the counts were added, or `existing` if an earlier request had added them.";

const resultSchema = (result: "created" | "existing", description: string) =>
  Type.Object(
    { result: Type.Literal(result, { description: RESULT }) },
    { title: `Usage report ${result}`, description, response_description: description },
  );

/** Serves the reports of gateways (AU-120). */
export function reportHandlers({ database, metrics, clock }: ReportHandlersDeps) {
  return new Elysia({ name: "audit-usage-reports", normalize: false }).put(
    REPORT_PATH,
    async ({ params: { instance, number }, body, status }) => {
      const result = await addReport(database, { instance, number: Number(number) }, body);
      metrics.report(result);
      return result === "created" ? status(201, { result }) : { result };
    },
    {
      // lists every problem; the schema check, which runs later, would list only some
      transform: ({ params, body }) =>
        refuse([...fieldErrors(reportParams, params), ...reportProblems(body, clock.now())]),
      params: reportParams,
      body: UsageReport,
      response: {
        200: resultSchema("existing", "The report was counted before; nothing was changed."),
        201: resultSchema("created", "The report was counted."),
        ...bodyErrors("UNAUTHORIZED"),
      },
      detail: operations.putUsageReport,
    },
  );
}
