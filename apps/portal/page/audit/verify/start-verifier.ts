/** The URL of the worker's script, which is an asset of the page. */
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

let address: string | undefined;

/** Starts the worker that verifies a log. The Trusted Types policy allows no other script URL. */
export function startVerifier(): Worker {
  address ??= trustedAddress();
  return new Worker(address, { type: "module" });
}

/**
 * Returns the script's URL, as a trusted URL if the browser supports Trusted Types. Must be called only once,
 * because a policy cannot be created twice.
 */
function trustedAddress(): string {
  const policy = window.trustedTypes?.createPolicy(POLICY, { createScriptURL: () => SCRIPT });
  return policy?.createScriptURL(SCRIPT) ?? SCRIPT;
}
