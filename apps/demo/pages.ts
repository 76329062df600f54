import { readFile } from "node:fs/promises";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";

const NAMES = ["alice", "bob", "carol"];
const STYLES = ["base", "shell", "parts"];

/** Returns the page that asks for a name. `action` is the address to which its forms send the name. */
export function signInPage(action: string): Promise<string> {
  const buttons = NAMES.map(
    (name) => `<button class="button" name="subject" value="${name}">${name}</button>`,
  );
  const form = `<form method="post" action="${Bun.escapeHTML(action)}">`;
  return page(
    "Who are you?",
    `<p class="quiet">This toy identity provider takes any name and asks for no password.</p>
        ${form}
          ${buttons.join("\n          ")}
        </form>
        ${form}
          <label for="subject">Another name</label>
          <input type="text" id="subject" name="subject" maxlength="128" autocomplete="username" required>
          <button class="button button-main">Sign in</button>
        </form>`,
  );
}

/** Returns the page for a person who signed out of a page that the provider does not know. */
export function signedOutPage(): Promise<string> {
  return page("You are signed out", `<p class="quiet">You can close this page.</p>`);
}

async function page(title: string, content: string): Promise<string> {
  const styles = await Promise.all(
    STYLES.map((name) => readFile(shippedFile(`lib/page/styles/${name}.css`), "utf8")),
  );
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title} · Toy identity provider</title>
    <style>
${styles.join("\n")}
    </style>
  </head>
  <body>
    <main class="sign-in">
      <div class="card">
        <p class="brand">Toy identity provider</p>
        <h1>${title}</h1>
        ${content}
      </div>
    </main>
  </body>
</html>
`;
}
