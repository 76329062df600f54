import { Button } from "@ostiary/lib/page";
import { useEffect } from "preact/hooks";
import { type SignedOutReason, useSession } from "../page-session.ts";
import { LanguageChoice } from "../parts/account.tsx";
import { BrandLinks, BrandMark } from "../parts/brand.tsx";
import { Loading } from "../parts/shown.tsx";
import { type Texts, useTexts } from "../texts/texts.ts";

/** Shows the sign-in button, and why the last sign-in ended or failed. */
export function SignIn() {
  const session = useSession();
  const { signIn: texts } = useTexts();
  const state = session.state.value;
  const { name } = session.settings.brand;
  useEffect(() => {
    document.title = name;
  }, [name]);
  return (
    <main class="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void session.signIn();
        }}
      >
        <BrandMark />
        <h1>{texts.title}</h1>
        {state.name === "signed-out" ? (
          <>
            <p class="quiet">{texts.lead(name)}</p>
            {session.invite.value !== null && <p class="notice notice-good">{texts.invited}</p>}
            {state.reason !== null && <Reason reason={state.reason} />}
            <Button type="submit" look="main">
              {texts.button}
            </Button>
          </>
        ) : (
          <Loading />
        )}
        <LanguageChoice />
        <BrandLinks />
      </form>
    </main>
  );
}

function Reason({ reason }: { reason: NonNullable<SignedOutReason> }) {
  const { signIn } = useTexts();
  const isNews = reason === "out" || reason === "ended";
  return (
    <div class={`notice notice-${isNews ? "warn" : "bad"}`} role={isNews ? "status" : "alert"}>
      <p>{textOf(reason, signIn)}</p>
      {typeof reason === "object" && reason.kind === "refused" && reason.message !== "" && (
        <p class="quiet small">{reason.message}</p>
      )}
    </div>
  );
}

function textOf(reason: NonNullable<SignedOutReason>, texts: Texts["signIn"]): string {
  if (typeof reason === "string") return texts[reason];
  return reason.kind === "needed" ? texts.ended : texts[reason.kind];
}
