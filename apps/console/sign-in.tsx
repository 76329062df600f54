import { useEffect, useRef, useState } from "preact/hooks";
import { FailureNotice } from "./parts/failure-notice.tsx";
import { Mark } from "./parts/mark.tsx";
import { asFailure, type Failure } from "./registry/failure.ts";
import { useSession } from "./session.ts";

/** Asks for the admin token. No form of the browser's: nothing is sent anywhere or offered to be kept. */
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
        <h1>Who is at the door?</h1>
        <p class="quiet">
          See what is published, who may call it, and change it with a review first. It takes the registry's
          admin token.
        </p>
        {failure === null && session.ended.value !== null && (
          <div class="notice notice-warn" role="alert">
            <p>{session.ended.value}</p>
          </div>
        )}
        {failure !== null && <SignInFailure failure={failure} />}
        <label for="token">Admin token</label>
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
          The value of <code>ADMIN_TOKEN</code>; after <code>bun start</code> it stands in{" "}
          <code>.ostiary/admin-token</code>. It is kept in the memory of this page, until you close or reload
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
      <p class="notice-title">This is not the admin token</p>
      <p>Copy it from where the registry is started, whole and without spaces.</p>
    </div>
  );
}
