import { expect, test } from "bun:test";
import { closing } from "../../support/during-tests.ts";
import { MEMBER_KEY } from "../../support/gateway/neighbours.ts";
import { WebSocketBed } from "../../support/gateway/websocket-bed.ts";
import { waitFor } from "../../support/index.ts";

// GW-186, GW-187
test("a WebSocket counts as one request, with the bytes of its messages in both directions", async () => {
  await using bed = closing(new WebSocketBed());
  await bed.start();
  bed.onMessage = (socket) => void socket.send("é".repeat(500));
  const { socket, messages } = await bed.connect("/org/room", { headers: { "X-API-Key": MEMBER_KEY } });
  for (const message of ["a".repeat(300), new Uint8Array(50)]) socket.send(message);
  await waitFor(() => messages.length === 2, { what: "both responses" });
  socket.close();
  await bed.closedAtService();
  await bed.gateway.close();
  const counts = bed.audit.reports.flatMap(({ report }) => report.counts);
  expect(counts).toMatchObject([
    { route: "/org/{room}", requests: 1, failed: 0, bytes_in: 350, bytes_out: 2_000 },
  ]);
});
