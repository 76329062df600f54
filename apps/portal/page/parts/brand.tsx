import { Button, Logo, Select } from "@ostiary/lib/page";
import { PersonName } from "../people/person-name.tsx";
import { useSession } from "../portal-session.ts";
import { textsOf, useTexts } from "../texts/texts.ts";

export function BrandMark() {
  const { name, has_logo } = useSession().settings.brand;
  return (
    <p class="brand">
      {has_logo ? <img class="logo" src="/portal/assets/logo" alt="" /> : <Logo />}
      {name}
    </p>
  );
}

/** Links to those of the company's support, terms and privacy pages that are configured. */
export function BrandLinks() {
  const { links } = useSession().settings.brand;
  const texts = useTexts().links;
  const shown = (["support", "terms", "privacy"] as const).flatMap((name) => {
    const href = links[name];
    return href === undefined ? [] : [{ name, href }];
  });
  if (shown.length === 0) return null;
  return (
    <nav class="brand-links" aria-label={texts.label}>
      {shown.map(({ name, href }) => (
        <a key={name} href={href} rel="noreferrer">
          {texts[name]}
        </a>
      ))}
    </nav>
  );
}

/** Shows who is signed in, the choice of language, and the button to sign out. */
export function Account() {
  const session = useSession();
  const { account } = useTexts();
  const person = session.person.value;
  return (
    <div class="account">
      <p class="quiet small">
        {account.signedInAs}{" "}
        <strong>
          <PersonName
            member={{ id: person?.id ?? "", display_name: person?.name ?? person?.claimed ?? null }}
          />
        </strong>
      </p>
      <LanguageChoice />
      <Button onClick={() => session.signOut()}>{account.signOut}</Button>
    </div>
  );
}

/** Lets people choose among the offered languages, if there are several. */
export function LanguageChoice() {
  const session = useSession();
  const { chooseLanguage } = useTexts();
  const { languages } = session.settings;
  if (languages.length < 2) return null;
  return (
    <Select
      class="language"
      aria-label={chooseLanguage}
      value={session.language.value}
      options={languages.map((value) => ({ value, text: textsOf(value).language }))}
      onInput={(language) => {
        session.language.value = language;
      }}
    />
  );
}
