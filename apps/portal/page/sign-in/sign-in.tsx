import { Button, Loading, SignedOutNotice } from "@ostiary/lib/page";
import { useEffect } from "preact/hooks";
import { useSession } from "../page-session.ts";
import { BrandLinks, BrandMark, LanguageChoice } from "../parts/brand.tsx";
import { useTexts } from "../texts/texts.ts";

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
            {state.why !== null && <SignedOutNotice why={state.why} texts={texts} />}
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
