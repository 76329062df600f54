import postgres from "postgres";
import { waitFor } from "../../../support/index.ts";
import type { LoadKind } from "../../../support/load/keep-alive-load.ts";

export const JSON_TYPE = { "Content-Type": "application/json" };

/** Returns the clients of the demo's catalog and of identity at a gateway, with a member's key and a person's token. */
export function clientsOf(url: string, key: string, jwt: string): LoadKind[] {
  const common = { url, clients: 4, pauseMsMax: 250 };
  const member = { "X-API-Key": key };
  return [
    { ...common, name: "public", method: "GET", path: "/demo/hello" },
    { ...common, name: "key", method: "GET", path: "/demo/things/1", headers: member },
    {
      ...common,
      name: "audited",
      method: "PUT",
      path: "/demo/things/1",
      headers: { ...member, ...JSON_TYPE },
      body: '{"color":"red"}',
    },
    {
      ...common,
      name: "person",
      method: "PATCH",
      path: "/user",
      headers: { Authorization: `Bearer ${jwt}`, ...JSON_TYPE },
      body: '{"display_name":"Ada"}',
    },
  ];
}

/** Waits until each of these requests has an audit event with the outcome `responded`. */
export async function expectWholeEvents(databaseUrl: string, request_ids: readonly string[]): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    const whole = async () => {
      const [row] = await sql`select count(*)::int as whole from audit.audit_events
        where request_id in ${sql([...request_ids])} and outcome = 'responded'`;
      if (row?.whole === request_ids.length) return true;
      throw new Error(`${row?.whole} of ${request_ids.length} events have the outcome responded.`);
    };
    await waitFor(whole, { pollMs: 200 });
  } finally {
    await sql.end();
  }
}
