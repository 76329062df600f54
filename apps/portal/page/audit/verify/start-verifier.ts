/** The address of the worker's script, an asset of the page. */
const SCRIPT = "/portal/assets/verifier.js";
/** The Trusted Types policy that the page's headers name. */
const POLICY = "portal-verifier";

declare global {
  interface Window {
    /** Undefined in browsers without Trusted Types. A policy returns a trusted URL, which is typed as a string here. */
    readonly trustedTypes?: {
      createPolicy(
        name: string,
        rules: { createScriptURL: (address: string) => string },
      ): { createScriptURL(address: string): string };
    };
  }
}

let address: string | undefined;

/** Starts the worker that verifies a log. The policy allows no other address. */
export function startVerifier(): Worker {
  address ??= trustedAddress();
  return new Worker(address, { type: "module" });
}

/** Returns the script's address in the form that the browser requires. Call once: a policy cannot be created twice. */
function trustedAddress(): string {
  const policy = window.trustedTypes?.createPolicy(POLICY, { createScriptURL: () => SCRIPT });
  return policy?.createScriptURL(SCRIPT) ?? SCRIPT;
}
