import { Organization } from "@ostiary/lib/contracts/identity-api";
import {
  type Answer,
  answered,
  Button,
  DataTable,
  Empty,
  FailureNotice,
  Loading,
  useAsked,
} from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { type Gateway, pathTo } from "../gateway.ts";
import { useSession } from "../page-session.ts";
import { More, ROWS } from "../parts/more.tsx";
import { isGranted, type Operation } from "../reference/description.ts";
import { fetchDescription } from "../reference/fetch-description.ts";
import { useFormats, useTexts } from "../texts/texts.ts";
import { type Limit, limitsOf } from "./limits.ts";

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

/** An operation with the limits that apply to the caller. */
interface LimitedOperation {
  readonly operation: Operation;
  readonly limits: readonly Limit[] | "default";
}

function LimitList() {
  const session = useSession();
  const texts = useTexts();
  const t = texts.usage;
  const { number } = useFormats();
  const [rows, setRows] = useState(ROWS);
  const { answer, failure, again } = useAsked(() => readLimits(session.gateway), "limits");
  if (failure?.kind === "missing") return <Empty title={texts.reference.unpublished} />;
  if (failure !== null) return <FailureNotice failure={failure} onRetry={() => void again()} />;
  if (answer === null) return <Loading />;
  const own = answer.filter(({ operation }) => isGranted(operation, session));
  const textOf = ({ requests, window, policy }: Limit) => {
    const numbers =
      typeof window === "number"
        ? t.perSeconds(number(requests), number(window))
        : t.perPeriod(number(requests), t.periods[window]);
    return policy === null ? numbers : `${policy}: ${numbers}`;
  };
  if (own.length === 0) return <Empty title={t.noLimits} />;
  return (
    <>
      <DataTable
        label={t.limits}
        columns={[t.call, t.limit]}
        rows={own.slice(0, rows).map(({ operation: { id, method, path }, limits }) => ({
          key: id,
          cells: [
            <code>
              {method} {path}
            </code>,
            limits === "default" ? t.defaultLimit : limits.map(textOf).join("; ") || t.unlimited,
          ],
        }))}
      />
      {own.length > rows && <More loading={false} onMore={() => setRows(rows + ROWS)} />}
    </>
  );
}

/** Reads the operations for members of an organization, with the limits for the organization's plan. */
async function readLimits(gateway: Gateway): Promise<Answer<LimitedOperation[]>> {
  const [organization, description] = await Promise.all([
    gateway.send(Organization, pathTo("org"), { as: "member" }),
    fetchDescription(gateway),
  ]);
  if (!organization.ok) return organization;
  if (!description.ok) return description;
  const { plan = null } = organization.value;
  const own = description.value.operations.filter(({ caller }) => caller === "member");
  return answered(
    own.map((operation) => ({ operation, limits: limitsOf(operation.source["x-rate-limit"], plan) })),
  );
}
