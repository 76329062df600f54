import { Logo } from "@ostiary/lib/page";
import { useSession } from "../page-session.ts";
import { useTexts } from "../texts/texts.ts";

/** Shows the company's logo and name. */
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
