import { describe, expect, test } from "bun:test";
import { ApiError } from "@ostiary/lib/domain/errors";
import { ClientGone, type UpstreamCall, UpstreamCalls } from "../../../apps/gateway/upstream/call.ts";
import { manualClock } from "../../support/time/manual-clock.ts";

/**
 * Returns a call in progress, with its clock, its client, the timeouts of the client's connection, and the
 * signal of the request to the service.
 */
function calling() {
  const clock = manualClock();
  const calls = new UpstreamCalls(clock);
  const client = new AbortController();
  const caller = clientOf(new Request("http://gateway.test/", { signal: client.signal }));
  const call = calls.begin(caller);
  return { clock, calls, client, call, seconds: caller.seconds, atService: underway(call) };
}

/** Gives the call a request to the service, and returns the signal that aborts the request. */
function underway(call: UpstreamCall) {
  const controller = new AbortController();
  call.underway = controller;
  return controller.signal;
}

/** Returns a client's request and the timeouts, in seconds, that are set on its connection. */
function clientOf(request: Request) {
  const seconds: number[] = [];
  return { request, seconds, server: { timeout: (_: Request, given: number) => void seconds.push(given) } };
}

const codeOf = (failure: Error) => (failure instanceof ApiError ? failure.code : failure.name);

describe("a call in progress is stopped", () => {
  // GW-123
  test("within 100 ms after its client disconnects", () => {
    const { clock, client, call, atService } = calling();
    clock.advance(1_000);
    client.abort();
    expect(atService.aborted).toBeFalse();
    clock.advance(100);
    expect(atService.aborted).toBeTrue();
    expect(call.failure(new Error("aborted"), 0)).toBeInstanceOf(ClientGone);
  });

  // GW-115
  test.each(["timeout", "idle"] as const)("with a 502 when the service is late: %s", (reason) => {
    const { clock, call, atService } = calling();
    call.awaitService(300, reason);
    clock.advance(300);
    expect(call.stopped).toBeFalse();
    clock.advance(100);
    expect(atService.aborted).toBeTrue();
    expect(codeOf(call.failure(new Error("aborted"), 0))).toBe("BAD_GATEWAY");
  });

  // GW-119
  test("with a 408 when the client is late with its body, whatever happens next", () => {
    const { clock, client, call } = calling();
    call.awaitService(400, "idle");
    call.awaitClient(300);
    clock.advance(400);
    client.abort();
    clock.advance(200);
    expect(codeOf(call.failure(new Error("aborted"), 0))).toBe("REQUEST_TIMEOUT");
  });
});

describe("a call continues", () => {
  // GW-116, GW-121
  test("while each chunk arrives in time, however long the whole call takes", () => {
    const { clock, call } = calling();
    for (let chunk = 0; chunk < 10; chunk++) {
      call.awaitService(300, "idle");
      clock.advance(200);
      call.serviceSent();
      call.awaitClient(300);
      clock.advance(200);
      call.clientSent();
    }
    clock.advance(60_000);
    expect(call.stopped).toBeFalse();
  });
});

test("a failure after the client disconnects counts as a disconnect, not as a failure of the service", () => {
  const { client, call } = calling();
  client.abort();
  expect(call.failure(new Error("broken"), 0)).toBeInstanceOf(ClientGone);
});

// GW-154
describe("slow readers that can be disconnected", () => {
  test("are clients that have read nothing for a second", () => {
    const { clock, calls, seconds, call, atService } = calling();
    call.awaitClientRead();
    clock.advance(900);
    calls.endSlowReaders();
    expect(call.stopped).toBeFalse();
    clock.advance(200);
    calls.endSlowReaders();
    expect({ stopped: call.stopped, aborted: atService.aborted }).toEqual({ stopped: true, aborted: true });
    expect(seconds).toEqual([1]);
    expect(call.failure(new Error("aborted"), 0).message).toContain("did not read");
  });

  test("do not include clients that read, however long the service takes", () => {
    const { clock, calls, seconds, call } = calling();
    call.awaitClientRead();
    call.clientRead();
    clock.advance(10_000);
    calls.endSlowReaders();
    expect({ stopped: call.stopped, seconds }).toEqual({ stopped: false, seconds: [] });
  });
});
