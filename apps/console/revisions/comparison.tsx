import { listChanges, type MarkedChange, markChanges } from "@ostiary/lib/domain/routes";
import { Empty } from "@ostiary/lib/page";
import { useAsked } from "../page-session.ts";
import { FailureNotice } from "../parts/failure-notice.tsx";
import { Loading } from "../parts/shown.tsx";
import { compareRevisions, readRevision } from "../registry/calls.ts";
import type { Registry } from "../registry/client.ts";
import { Changes, ReviewSummary } from "../review/review.tsx";

interface ComparisonProps {
  service: string;
  /** The revision to compare with. 0 stands for the empty state before the first revision. */
  from: number;
  to: number;
}

/** Shows the changes between two revisions. */
export function Comparison({ service, from, to }: ComparisonProps) {
  const { answer, failure, again } = useAsked(
    (registry) => changesBetween(registry, { service, from, to }),
    `${service} ${from} ${to}`,
  );
  if (failure !== null) return <FailureNotice failure={failure} onRetry={again} />;
  if (answer === null) return <Loading what="the changes" />;
  if (answer.length === 0) return <Empty title="There are no changes." />;
  return (
    <>
      <ReviewSummary changes={answer} />
      <Changes changes={answer} label="Changes" />
    </>
  );
}

async function changesBetween(
  registry: Registry,
  { service, from, to }: ComparisonProps,
): Promise<MarkedChange[]> {
  if (from > 0) return compareRevisions(registry, service, from, to);
  const { config } = await readRevision(registry, service, to);
  return markChanges(listChanges(null, config));
}
