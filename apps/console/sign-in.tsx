import { Mark } from "@ostiary/lib/page";
import { useEffect, useRef, useState } from "preact/hooks";
import { FailureNotice } from "./parts/failure-notice.tsx";
import { asFailure, type Failure } from "./registry/failure.ts";
import { useSession } from "./session.ts";

/** Asks for the token of an operator. The browser does not submit the form, and does not offer to save the token. */
export function SignIn() {
  const session = useSession();
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = "Ostiary console";
    input.current?.focus();
  }, []);

  const enter = async (event: Event) => {
    event.preventDefault();
    const token = input.current?.value ?? "";
    if (busy || token === "") return;
    setBusy(true);
    try {
      await session.enter(token);
    } catch (thrown) {
      setFailure(asFailure(thrown));
      setBusy(false);
      input.current?.select();
    }
  };

  return (
    <main class="sign-in">
      <form onSubmit={enter} aria-busy={busy}>
        <p class="brand">
          <Mark />
          Ostiary <span>console</span>
        </p>
        <h1>Sign in</h1>
        <p class="quiet">
          See the published routes and who may call them, and change them after a review. You need the
          registry's admin token or the token of an operator.
        </p>
        {failure === null && session.ended.value !== null && (
          <div class="notice notice-warn" role="alert">
            <p>{session.ended.value}</p>
          </div>
        )}
        {failure !== null && <SignInFailure failure={failure} />}
        <label for="token">Token</label>
        <input
          id="token"
          ref={input}
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          aria-describedby="token-help"
          aria-invalid={failure?.kind === "refused"}
        />
        <button type="submit" class="button button-main" aria-disabled={busy}>
          {busy ? "Asking the registry …" : "Open the console"}
        </button>
        <p id="token-help" class="quiet small">
          Your own token, or the value of <code>ADMIN_TOKEN</code>; after <code>bun start</code> the token is
          in <code>.ostiary/admin-token</code>. This page keeps the token in memory until you close or reload
          it.
        </p>
      </form>
    </main>
  );
}

function SignInFailure({ failure }: { failure: Failure }) {
  if (failure.kind !== "refused") return <FailureNotice failure={failure} />;
  return (
    <div class="notice notice-bad" role="alert">
      <p class="notice-title">The registry does not know this token</p>
      <p>Copy the whole token, without spaces. A token can also have ended.</p>
    </div>
  );
}
