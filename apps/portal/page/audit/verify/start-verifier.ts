/** The address of the worker's script, an asset of the page. */
const SCRIPT = "/portal/assets/verifier.js";
/** The policy that the page's headers name. */
const POLICY = "portal-verifier";

declare global {
  interface Window {
    /** Browsers without Trusted Types lack it. The result of a policy stands for a string. */
    readonly trustedTypes?: {
      createPolicy(
        name: string,
        rules: { createScriptURL: (address: string) => string },
      ): { createScriptURL(address: string): string };
    };
  }
}

let address: string | undefined;

/** Starts the worker that verifies a log. Its script is the only one that the page may start. */
export function startVerifier(): Worker {
  address ??= trustedAddress();
  return new Worker(address, { type: "module" });
}

/** Returns the address in the form that the browser asks for. A policy can be made once. */
function trustedAddress(): string {
  const policy = window.trustedTypes?.createPolicy(POLICY, { createScriptURL: () => SCRIPT });
  return policy?.createScriptURL(SCRIPT) ?? SCRIPT;
}
