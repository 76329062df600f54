import {
  type IdentifiedIntent,
  type IdentifiedOutcome,
  identifiedIntentSchema,
  identifiedOutcomeSchema,
} from "@ostiary/lib/contracts/audit";
import {
  AUDIT_INTENTS_PATH,
  AUDIT_OUTCOMES_PATH,
  QUOTA_COUNTS_PATH,
  USAGE_PATH,
} from "@ostiary/lib/contracts/internal-api";
import { type QuotaName, QuotaQuestion, UsageReport } from "@ostiary/lib/contracts/usage";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

const intentsBody = Type.Object({ intents: Type.Array(identifiedIntentSchema) });
const outcomesBody = Type.Object({ outcomes: Type.Array(identifiedOutcomeSchema) });

/** A call that the stand-in has received. */
export interface Write {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly token: string | null;
}

/** A usage report that the stand-in has received, and its address. */
export interface ReceivedReport {
  readonly instance: string;
  readonly number: number;
  readonly report: UsageReport;
}

type Answer = (write: Write) => Response | Promise<Response>;

/** Answers a call with writes of several requests. */
type BatchAnswer<Item> = (items: readonly Item[]) => Response | Promise<Response>;

/** A stand-in for the audit service, which remembers every call and answers as its fields say. */
export interface AuditStandIn {
  readonly url: string;
  readonly writes: Write[];
  /** Returns the calls of one method so far. */
  of(method: "PUT" | "PATCH"): Write[];
  /** Returns the highest number of calls that were open at once. */
  readonly most: () => number;
  answer: Answer;
  /** The intents of each batch call. */
  readonly intentBatches: (readonly IdentifiedIntent[])[];
  readonly outcomeBatches: (readonly IdentifiedOutcome[])[];
  /** Answers batches of intents. The default is 404, like that of a service without batches. */
  answerIntents: BatchAnswer<IdentifiedIntent>;
  answerOutcomes: BatchAnswer<IdentifiedOutcome>;
  /** The usage reports so far, repeated ones included. */
  readonly reports: ReceivedReport[];
  /** Answers usage reports, with 201 by default. */
  answerReport: (received: ReceivedReport) => Response | Promise<Response>;
  /** Answers questions for the counts of quotas, with 0 for each by default. */
  answerQuotas: BatchAnswer<QuotaName>;
  stop(): Promise<void>;
}

export const taken: Answer = ({ method }) => new Response(null, { status: method === "PUT" ? 201 : 204 });
export const answering = (status: number): Answer => {
  return () => new Response(null, { status });
};

/** Gives every write of a batch the same result. */
export const eachIs =
  (result: string): BatchAnswer<{ readonly request_id: string }> =>
  (items) =>
    Response.json({ results: items.map(({ request_id }) => ({ request_id, result })) });

const unknownCall = () => new Response(null, { status: 404 });

export function startAudit(port = 0): AuditStandIn {
  let open = 0;
  let most = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    idleTimeout: 0,
    async fetch(request) {
      open += 1;
      most = Math.max(most, open);
      const body = await request.json();
      const path = new URL(request.url).pathname;
      if (path === AUDIT_INTENTS_PATH) {
        open -= 1;
        const { intents } = Value.Parse(intentsBody, body);
        audit.intentBatches.push(intents);
        return audit.answerIntents(intents);
      }
      if (path === AUDIT_OUTCOMES_PATH) {
        open -= 1;
        const { outcomes } = Value.Parse(outcomesBody, body);
        audit.outcomeBatches.push(outcomes);
        return audit.answerOutcomes(outcomes);
      }
      if (path === QUOTA_COUNTS_PATH) {
        open -= 1;
        return audit.answerQuotas(Value.Parse(QuotaQuestion, body).quotas);
      }
      if (path.startsWith(`${USAGE_PATH}/`)) {
        open -= 1;
        const [instance = "", number = ""] = path.slice(USAGE_PATH.length + 1).split("/");
        const received = { instance, number: Number(number), report: Value.Parse(UsageReport, body) };
        audit.reports.push(received);
        return audit.answerReport(received);
      }
      const write = {
        method: request.method,
        path,
        body,
        token: request.headers.get("x-platform-internal-token"),
      };
      audit.writes.push(write);
      try {
        return await audit.answer(write);
      } finally {
        open -= 1;
      }
    },
  });
  const audit: AuditStandIn = {
    url: `http://127.0.0.1:${server.port}`,
    writes: [],
    of: (method) => audit.writes.filter((write) => write.method === method),
    most: () => most,
    answer: taken,
    intentBatches: [],
    outcomeBatches: [],
    answerIntents: unknownCall,
    answerOutcomes: unknownCall,
    reports: [],
    answerReport: () => new Response(null, { status: 201 }),
    answerQuotas: (quotas) => Response.json({ counts: quotas.map(() => 0) }),
    stop: () => server.stop(true),
  };
  return audit;
}
