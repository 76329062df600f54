import type { Failure } from "@ostiary/lib/page";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Verification, VerifyRequest } from "./messages.ts";

export type Verifier = ReturnType<typeof useVerifier>;

/** Runs one verification at a time in a worker. Stops the worker when the component unmounts. */
export function useVerifier() {
  const [verification, show] = useState<Verification>({ state: "idle" });
  const worker = useRef<Worker | null>(null);
  const stop = () => {
    worker.current?.terminate();
    worker.current = null;
  };
  useEffect(() => stop, []);
  const end = (last: Verification) => {
    stop();
    show(last);
  };
  return {
    verification,
    start(request: VerifyRequest) {
      if (worker.current !== null) return;
      const started = startVerifier();
      worker.current = started;
      show({ state: "running", events: 0, bytes: 0 });
      started.onmessage = ({ data }: MessageEvent<Verification>) => {
        if (data.state === "running") show(data);
        else end(data);
      };
      started.onerror = () => end({ state: "failed", reason: "unavailable" });
      started.postMessage(request);
    },
    refuse: (failure: Failure) => end({ state: "refused", failure }),
    cancel: () => end({ state: "idle" }),
  };
}

const SCRIPT = "/portal/assets/verifier.js";
/** The name of the Trusted Types policy that the page's Content-Security-Policy allows. */
const POLICY = "portal-verifier";

declare global {
  interface Window {
    /**
     * The API of Trusted Types, or undefined in browsers without the API. The trusted URL that a policy
     * returns is typed as a string here.
     */
    readonly trustedTypes?: {
      createPolicy(
        name: string,
        rules: { createScriptURL: (address: string) => string },
      ): { createScriptURL(address: string): string };
    };
  }
}

/** The script's URL, which is a trusted URL if the browser supports Trusted Types. */
let address: string | undefined;

/** Starts the worker that verifies a log. The policy, which cannot be created twice, allows no other script URL. */
function startVerifier(): Worker {
  const policy = () => window.trustedTypes?.createPolicy(POLICY, { createScriptURL: () => SCRIPT });
  address ??= policy()?.createScriptURL(SCRIPT) ?? SCRIPT;
  return new Worker(address, { type: "module" });
}
