import { Organization } from "@ostiary/lib/contracts/identity-api";
import { isRecord } from "@ostiary/lib/domain/json";
import { RATE_LIMIT_HEADERS } from "@ostiary/lib/domain/ratelimit";
import { Button, DataTable, Empty, Loaded, Route, Rows, succeeded, useRequest } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { type Gateway, parsed, pathTo } from "../gateway.ts";
import { useSession } from "../portal-session.ts";
import { fetchDescription, isGranted } from "../reference/description.ts";
import { useFormats, useTexts } from "../texts/texts.ts";

/** Shows the limits of the member's calls on request only, because the edge description can be large. */
export function OwnLimits() {
  const t = useTexts().usage;
  const [open, setOpen] = useState(false);
  return (
    <section aria-labelledby="limits">
      <h2 id="limits">{t.limits}</h2>
      {open ? <LimitList /> : <Button onClick={() => setOpen(true)}>{t.showLimits}</Button>}
    </section>
  );
}

function LimitList() {
  const session = useSession();
  const texts = useTexts();
  const t = texts.usage;
  const { number } = useFormats();
  const request = useRequest(() => readLimits(session.gateway), "limits");
  if (request.failure?.kind === "missing") return <Empty title={texts.reference.unpublished} />;
  const textOf = ({ requests, window, policy }: Limit) => {
    const numbers =
      typeof window === "number"
        ? t.perSeconds(number(requests), number(window))
        : t.perPeriod(number(requests), t.periods[window]);
    return policy === null ? numbers : `${policy}: ${numbers}`;
  };
  return (
    <Loaded request={request}>
      {({ operations, byDefault }) => {
        const own = operations.filter(({ operation }) => isGranted(operation, session));
        return (
          <Rows rows={own}>
            {(rows) => (
              <DataTable
                label={t.limits}
                none={<Empty title={t.noLimits} />}
                columns={[texts.reference.columns.call, t.limit]}
                rows={rows.map(({ operation: { id, method, path }, limits }) => ({
                  key: id,
                  cells: [
                    <Route text={`${method} ${path}`} />,
                    limits === "default"
                      ? t.defaultLimit(byDefault === null ? null : number(byDefault))
                      : limits.map(textOf).join("; ") || t.unlimited,
                  ],
                }))}
              />
            )}
          </Rows>
        );
      }}
    </Loaded>
  );
}

/** Reads the operations for members of an organization, with the limits for the organization's plan. */
async function readLimits(gateway: Gateway) {
  const [response, description] = await Promise.all([
    gateway.stream(pathTo("org")),
    fetchDescription(gateway),
  ]);
  if (!response.ok) return response;
  if (!description.ok) return description;
  const organization = await parsed(Organization, response.value, {});
  if (!organization.ok) return organization;
  const { plan = null } = organization.value;
  const operations = description.value.operations
    .filter(({ caller }) => caller === "member")
    .map((operation) => ({ operation, limits: limitsOf(operation.source["x-rate-limit"], plan) }));
  // The response to GET /org states the default limit, if that call has it.
  const ownOperation = operations.find(
    ({ operation: { method, path } }) => method === "GET" && path === pathTo("org"),
  );
  const stated = response.value.headers.get(RATE_LIMIT_HEADERS.limit);
  const byDefault = ownOperation?.limits === "default" && stated !== null ? Number(stated) : null;
  return succeeded({ operations, byDefault });
}

/** A rate limit of an operation, for the organization's plan. */
interface Limit {
  readonly policy: string | null;
  readonly requests: number;
  /** The length of the window in seconds, or the calendar period. */
  readonly window: number | "day" | "month";
}

/** The maximum number of limits that the page reads for an operation. A route has at most three. */
const LIMITS_MAX = 10;

/**
 * Returns the limits for a plan from an operation's `x-rate-limit` in the edge description. Empty if the
 * operation has no limit. Returns "default" for the gateway's default limit, whose numbers the description
 * omits.
 */
function limitsOf(described: unknown, plan: string | null): readonly Limit[] | "default" {
  if (!isRecord(described)) return [];
  if (described.default === true) return "default";
  if (!Array.isArray(described.limits)) return limitIn(described);
  const { plans } = described;
  const ofPlan = isRecord(plans) && plan !== null && Object.hasOwn(plans, plan) ? plans[plan] : undefined;
  const own = Array.isArray(ofPlan) ? ofPlan : described.limits;
  return own.slice(0, LIMITS_MAX).flatMap(limitIn);
}

function limitIn(value: unknown): Limit[] {
  if (!isRecord(value)) return [];
  const { requests, window_seconds, period } = value;
  const window = period === "day" || period === "month" ? period : window_seconds;
  if (typeof requests !== "number") return [];
  if (typeof window !== "number" && window !== "day" && window !== "month") return [];
  return [{ policy: typeof value.policy === "string" ? value.policy : null, requests, window }];
}
