import { Button, Logo } from "@ostiary/lib/page";
import { useEffect, useRef, useState } from "preact/hooks";
import { useSession } from "../page-session.ts";
import { FailureNotice } from "../parts/failure-notice.tsx";
import { asFailure, type Failure } from "../registry/failure.ts";

/** Asks people to sign in: at the identity provider if one is configured, or with a token. */
export function SignIn() {
  const session = useSession();
  useEffect(() => {
    document.title = "Ostiary console";
  }, []);
  if (session.isStarting.value) {
    return (
      <main class="sign-in">
        <div class="card" aria-busy="true">
          <Brand />
          <h1>Sign in</h1>
          <p role="status">Signing in …</p>
        </div>
      </main>
    );
  }
  return (
    <main class="sign-in">
      <div class="card">
        <Brand />
        <h1>Sign in</h1>
        <p class="quiet">
          See which routes are published and who may call them. Review changes and publish them.{" "}
          {session.hasProvider
            ? "The registry recognizes you by your company's account."
            : "You need the registry's admin token or the token of an operator."}
        </p>
        <Ended />
        {session.hasProvider ? (
          <>
            <ProviderButton />
            <details>
              <summary>Sign in with a token</summary>
              <TokenForm hasFocus={false} />
            </details>
          </>
        ) : (
          <TokenForm hasFocus />
        )}
      </div>
    </main>
  );
}

/** Shows the logo and the name of the page. */
export function Brand() {
  return (
    <p class="brand">
      <Logo />
      Ostiary <span>console</span>
    </p>
  );
}

function Ended() {
  const session = useSession();
  const ended = session.ended.value;
  if (ended === null) return null;
  const { text, detail = "", failed = false, isUnknownAccount = false } = ended;
  return (
    <div class={`notice notice-${failed ? "bad" : "warn"}`} role="alert">
      <p>{text}</p>
      {detail !== "" && <p class="quiet small">{detail}</p>}
      {isUnknownAccount && <Button onClick={() => session.leaveProvider()}>Choose another account</Button>}
    </div>
  );
}

function ProviderButton() {
  const session = useSession();
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  return (
    <button ref={button} type="button" class="button button-main" onClick={() => session.signIn()}>
      Sign in with your company's account
    </button>
  );
}

/** Asks for the token of an operator. The browser neither submits the form nor offers to save the token. */
function TokenForm({ hasFocus }: { hasFocus: boolean }) {
  const session = useSession();
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (hasFocus) input.current?.focus();
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
    <form onSubmit={enter} aria-busy={busy}>
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
      <Button type="submit" look={hasFocus ? "main" : undefined} aria-disabled={busy}>
        {busy ? "Signing in …" : "Open the console"}
      </Button>
      <p id="token-help" class="quiet small">
        Your own token, or the value of <code>ADMIN_TOKEN</code>; after <code>bun start</code> the token is in{" "}
        <code>.ostiary/admin-token</code>. This page keeps the token in memory until you close or reload it.
      </p>
    </form>
  );
}

function SignInFailure({ failure }: { failure: Failure }) {
  if (failure.kind !== "refused") return <FailureNotice failure={failure} />;
  return (
    <div class="notice notice-bad" role="alert">
      <p class="notice-title">The registry does not know this token</p>
      <p>Copy the whole token, without spaces. The token may also have expired.</p>
    </div>
  );
}
