import { expect, test } from "bun:test";
import { openLog } from "../../../app/audit/bed.ts";
import { exportProof, writeEvents } from "../../../app/audit/proof-bed.ts";
import { drop, makeMonth, writePast } from "../../../app/audit/retention-bed.ts";
import {
  bodiesOf,
  callStreams,
  STREAMS,
  startReceiver,
  startStreamingAudit,
  streamVariables,
} from "../../../app/audit/streams-bed.ts";
import { services, waitFor } from "../../../support/index.ts";

// AU-68, AU-102
test.skipIf(!services().postgres.real)(
  "a stream delivers dropped entries and the declarations of dropped months, and skips no position",
  async () => {
    using receiver = startReceiver();
    const env = streamVariables([receiver.port]);
    await using audit = await startStreamingAudit([receiver.port], { env });
    await using log = await openLog(audit);
    await makeMonth(log, "2020-01");
    await writePast(log, "organization-1", "2020-01-15T00:00:00Z", 3);
    await writeEvents(audit, 2);
    await exportProof(audit);
    const { body: before } = await callStreams(audit, "POST", STREAMS, {
      url: receiver.url,
      from_position: 1,
    });
    await waitFor(
      async () => (await callStreams(audit, "GET", `${STREAMS}/${before.id}`)).body.lag_events === 0,
    );
    await drop(log, env.AUDIT_SIGNING_KEY_FILE, "2020-02");
    await writeEvents(audit, 2);
    const { end } = await exportProof(audit);
    const reached = async (id: string) => {
      const { body } = await callStreams(audit, "GET", `${STREAMS}/${id}`);
      return body.last_delivered?.position === end.head.position;
    };
    await waitFor(() => reached(before.id), { timeoutMs: 20_000 });
    const kindsOf = (stream_id: string) =>
      bodiesOf(receiver)
        .filter(({ data }) => data.stream_id === stream_id)
        .flatMap(({ data }) => data.entries.map(({ position, kind }) => [position, kind]));
    const { body: after } = await callStreams(audit, "POST", STREAMS, {
      url: receiver.url,
      from_position: 1,
    });
    await waitFor(() => reached(after.id), { timeoutMs: 20_000 });
    const positions = Array.from({ length: end.head.position }, (_, index) => index + 1);
    for (const { id } of [before, after]) {
      expect(kindsOf(id).map(([position]) => position)).toEqual(positions);
      expect(kindsOf(id).filter(([, kind]) => kind === "retention")).toHaveLength(1);
    }
    expect(kindsOf(before.id).filter(([, kind]) => kind === "dropped")).toEqual([]);
    expect(kindsOf(after.id).filter(([, kind]) => kind === "dropped")).toHaveLength(5);
  },
);
