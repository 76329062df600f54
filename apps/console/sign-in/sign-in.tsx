import {
  Button,
  ENGLISH_SIGN_IN,
  FailureNotice,
  Logo,
  type SignedOut,
  SignedOutNotice,
  useWrite,
} from "@ostiary/lib/page";
import { useEffect, useRef } from "preact/hooks";
import { useSession } from "../console-session.ts";

/** Asks people to sign in: at the identity provider if one is configured, or with a token. */
export function SignIn() {
  const session = useSession();
  useEffect(() => {
    document.title = "Ostiary console";
  }, []);
  const state = session.state.value;
  return (
    <main class="sign-in">
      <div class="card" aria-busy={state.name === "starting"}>
        <Brand />
        <h1>Sign in</h1>
        {state.name === "signed-out" ? <SignInOptions why={state.why} /> : <p role="status">Signing in …</p>}
      </div>
    </main>
  );
}

function SignInOptions({ why }: { why: SignedOut | null }) {
  const session = useSession();
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  return (
    <>
      <p class="quiet">
        See which routes are published and who may call them. Review changes and publish them.{" "}
        {session.hasProvider
          ? "The registry recognizes you by your company's account."
          : "You need the registry's admin token or the token of an operator."}
      </p>
      {why !== null && (
        <SignedOutNotice why={why} texts={TEXTS}>
          {why.reason === "unknown" && (
            <Button onClick={() => session.signOut()}>Choose another account</Button>
          )}
        </SignedOutNotice>
      )}
      {session.hasProvider ? (
        <>
          <button ref={button} type="button" class="button button-main" onClick={() => session.signIn()}>
            Sign in with your company's account
          </button>
          <details>
            <summary>Sign in with a token</summary>
            <TokenForm hasFocus={false} />
          </details>
        </>
      ) : (
        <TokenForm hasFocus />
      )}
    </>
  );
}

const TEXTS = {
  ...ENGLISH_SIGN_IN,
  token: "The registry no longer accepts the token. Enter a valid token.",
  unknown:
    "Your account is not an operator of this registry. Ask an admin of the registry, or choose another account.",
};

export function Brand() {
  return (
    <p class="brand">
      <Logo />
      Ostiary <span>console</span>
    </p>
  );
}

/** Asks for the token of an operator. The browser neither submits the form nor offers to save the token. */
function TokenForm({ hasFocus }: { hasFocus: boolean }) {
  const session = useSession();
  const { busy, failure, write } = useWrite();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (hasFocus) input.current?.focus();
  }, []);

  const enter = async (event: Event) => {
    event.preventDefault();
    const token = input.current?.value ?? "";
    if (token === "") return;
    await write(
      () => session.enter(token),
      () => {},
    );
    input.current?.select();
  };

  return (
    <form onSubmit={enter} aria-busy={busy}>
      {failure !== null && (
        <FailureNotice failure={failure} {...(failure.kind === "signed_out" && UNKNOWN_TOKEN)} />
      )}
      <label for="token">Token</label>
      <input
        id="token"
        ref={input}
        type="password"
        autocomplete="off"
        spellcheck={false}
        required
        aria-describedby="token-help"
        aria-invalid={failure?.kind === "signed_out"}
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

const UNKNOWN_TOKEN = {
  title: "The registry does not know this token",
  text: "Copy the whole token, without spaces. The token may also have expired.",
};
