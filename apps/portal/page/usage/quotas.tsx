import type { OrganizationQuota } from "@ostiary/lib/contracts/usage-contract";
import { Time } from "@ostiary/lib/page";
import { useId } from "preact/hooks";
import { useFormats, useTexts } from "../texts/texts.ts";

/**
 * Shows the used and remaining requests of each quota of the current day and month. Shows a warning if at
 * least 80 percent are used.
 */
export function Quotas({ quotas }: { quotas: readonly OrganizationQuota[] }) {
  const t = useTexts().usage;
  return (
    <section aria-labelledby="quotas">
      <h2 id="quotas">{t.quotas}</h2>
      {quotas.length === 0 && <p class="quiet">{t.noQuotas}</p>}
      {quotas.map((quota) => (
        <Quota key={`${nameOf(quota)} ${quota.service} ${quota.from} ${quota.to}`} quota={quota} />
      ))}
    </section>
  );
}

function Quota({ quota }: { quota: OrganizationQuota }) {
  const t = useTexts().usage;
  const { number } = useFormats();
  const id = useId();
  const { requests, charged, service, period, to } = quota;
  const name = nameOf(quota);
  const isOver = requests !== null && charged >= requests;
  return (
    <div class="quota">
      <h3 id={id} class="quota-name">
        {t.quotaOf(name, t.periods[period])}
        {service !== null && <span class="quiet small"> {service}</span>}
      </h3>
      {requests !== null && (
        <meter
          aria-labelledby={id}
          min={0}
          max={requests}
          high={NEAR_SHARE * requests}
          optimum={0}
          value={Math.min(charged, requests)}
        />
      )}
      <p>
        {requests === null
          ? t.usedOfUnknown(number(charged))
          : `${t.used(number(charged), number(requests))} ${t.left(number(Math.max(0, requests - charged)))}`}{" "}
        {t.resets} <Time at={to} />.
      </p>
      {requests !== null && charged >= requests * NEAR_SHARE && (
        <p class={`notice notice-${isOver ? "bad" : "warn"}`} role="status">
          {isOver ? t.over(name) : t.near(name, number(Math.floor((100 * charged) / requests)))}
        </p>
      )}
    </div>
  );
}

/** Returns the name of a quota: its policy, or the route with the inline limit. */
function nameOf({ policy, method, route }: OrganizationQuota): string {
  return policy ?? `${method} ${route}`;
}

const NEAR_SHARE = 0.8;
