/**
 * Returns the current value of a time series of a service, such as `audit_intents_total{result="created"}`. NaN if the
 * service has no such series.
 */
export async function metricOf({ internalUrl }: { internalUrl: string }, series: string): Promise<number> {
  const text = await (await fetch(`${internalUrl}/metrics`)).text();
  return Number(text.split(`\n${series} `)[1]?.split("\n")[0]);
}
