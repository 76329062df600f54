import type { Failure } from "@ostiary/lib/page";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Gateway, isWrite } from "../gateway.ts";
import type { ReadyCall } from "./request.ts";
import { readResponse, type ShownResponse } from "./shown-response.ts";

/** The state of a call. */
export type Exchange =
  | { state: "idle" }
  | { state: "running" }
  /** The person stopped the call. `outcomeUnknown` says that the call may have made a change. */
  | { state: "stopped"; outcomeUnknown: boolean }
  | { state: "failed"; failure: Failure }
  | { state: "answered"; response: ShownResponse };

export interface Sender {
  readonly exchange: Exchange;
  /** Sends a call. Does nothing while another call is in flight, so that a double click sends only once. */
  send(ready: ReadyCall): void;
  stop(): void;
}

const ACCEPT = "application/json, */*;q=0.8";

/** Sends one call at a time with the credential for its scope, and reads the response (PT-43, PT-44). */
export function useSender(gateway: Gateway): Sender {
  const [exchange, show] = useState<Exchange>({ state: "idle" });
  const underway = useRef<{ stop: AbortController; writes: boolean } | null>(null);
  const send = async ({ address, call }: ReadyCall) => {
    if (underway.current !== null) return;
    const mine = { stop: new AbortController(), writes: isWrite(call) };
    underway.current = mine;
    show({ state: "running" });
    const headers = { Accept: ACCEPT, ...call.headers };
    const result = await gateway.exchange(address, { ...call, headers, signal: mine.stop.signal });
    const last: Exchange = result.ok
      ? { state: "answered", response: await readResponse(result.value) }
      : { state: "failed", failure: result.failure };
    if (underway.current !== mine) return;
    underway.current = null;
    const stopped = mine.stop.signal.aborted && last.state === "failed";
    show(stopped ? { state: "stopped", outcomeUnknown: mine.writes } : last);
  };
  useEffect(
    () => () => {
      // Let a write continue. Abort a read, because nobody needs its response anymore.
      if (underway.current?.writes === false) underway.current.stop.abort();
      underway.current = null;
    },
    [],
  );
  return { exchange, send: (ready) => void send(ready), stop: () => underway.current?.stop.abort() };
}
