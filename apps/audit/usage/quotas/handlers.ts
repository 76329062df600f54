import type { Clock } from "@ostiary/lib/async";
import { QUOTA_COUNTS_PATH } from "@ostiary/lib/contracts/internal-api";
import { QuotaCounts, QuotaQuestion } from "@ostiary/lib/contracts/usage";
import { bodyErrors } from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { Elysia } from "elysia";
import { refuse } from "../../field-problems.ts";
import { operations } from "../operation-texts.ts";
import { questionProblems } from "./quota.ts";
import { selectQuotaCounts } from "./sql.ts";

interface QuotaHandlersDeps {
  database: Database;
  clock: Clock;
}

/** Serves the stored counts of quotas to gateways whose counter store lost them (AU-192). */
export function quotaHandlers({ database, clock }: QuotaHandlersDeps) {
  return new Elysia({ name: "audit-quotas", normalize: false }).post(
    QUOTA_COUNTS_PATH,
    async ({ body: { quotas } }) => ({ counts: await selectQuotaCounts(database, quotas) }),
    {
      // lists every problem; the schema check, which runs later, would list only some
      transform: ({ body }) => refuse(questionProblems(body, clock.now())),
      body: QuotaQuestion,
      response: { 200: QuotaCounts, ...bodyErrors("UNAUTHORIZED") },
      detail: operations.readQuotaCounts,
    },
  );
}
