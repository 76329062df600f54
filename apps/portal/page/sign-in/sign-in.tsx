import { Button, Loading, SignedOutNotice } from "@ostiary/lib/page";
import { useEffect } from "preact/hooks";
import { BrandLinks, BrandMark, LanguageChoice } from "../parts/brand.tsx";
import { useSession } from "../portal-session.ts";
import { useTexts } from "../texts/texts.ts";

/** Shows a button for each identity provider, and why the last sign-in ended or failed. */
export function SignIn() {
  const session = useSession();
  const { signIn: texts } = useTexts();
  const state = session.state.value;
  const { brand, providers } = session.settings;
  const { name } = brand;
  useEffect(() => {
    document.title = name;
  }, [name]);
  return (
    <main class="sign-in">
      <div class="card">
        <BrandMark />
        <h1>{texts.title}</h1>
        {state.name === "signed-out" ? (
          <>
            <p class="quiet">{texts.lead}</p>
            {session.invite.value !== null && <p class="notice notice-good">{texts.invited}</p>}
            {state.why !== null && <SignedOutNotice why={state.why} texts={texts} />}
            {providers.map(({ issuer, name: provider }) => (
              <Button key={issuer} look="main" onClick={() => void session.signIn(false, issuer)}>
                {provider === null ? texts.button : texts.buttonOf(provider)}
              </Button>
            ))}
          </>
        ) : (
          <Loading />
        )}
        <LanguageChoice />
        <BrandLinks />
      </div>
    </main>
  );
}
