import { expect, test } from "bun:test";
import { startIdentity } from "../../../app/identity/bed.ts";
import { services, startPostgres, waitFor } from "../../../support/index.ts";

// ID-118
test.skipIf(!services().postgres.binary)(
  "a cursor of admission changes is a reset after the database server recovered from a crash of one process",
  async () => {
    const server = await startPostgres();
    await using identity = await startIdentity({ databaseUrl: server.url });
    const read = (after = "") =>
      identity.internal("GET", `/internal/admission-changes?${after && `after=${after}`}`);
    const after = (await read()).body.next;
    expect((await read(after)).body).toMatchObject({ changes: [] });
    const [{ pid, started } = {}] = await identity.sql`
      select pg_backend_pid() as pid, pg_postmaster_start_time()::text as started`;
    process.kill(Number(pid), "SIGKILL");
    // Until the server ends its other processes, they respond.
    const recovered = await waitFor(async () => {
      const { status, body } = await read(after);
      return status === 200 && body.reset === true && body;
    });
    expect((await read(recovered.next)).body).toMatchObject({ changes: [] });
    expect(await identity.sql`select pg_postmaster_start_time()::text as started`).toEqual([{ started }]);
    await server.close();
  },
);
