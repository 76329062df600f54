import { beforeAll, describe, expect, test } from "bun:test";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ADMIN_TOKEN, service } from "../registry/bed.ts";
import { type Run, useCli } from "./bed.ts";

const { registry, cli, directory } = useCli();
beforeAll(async () => {
  await registry.put("seen", service("/seen"));
});

const NOWHERE = "http://127.0.0.1:1";
/** Environment variables that name no registry. */
const NONE = { REGISTRY_URL: "", ADMIN_TOKEN: "" };

let folders = 0;

/** Creates a profiles file. Returns the environment that leads to it. */
async function home(text: string): Promise<Record<string, string>> {
  const folder = join(directory(), `config-${folders++}`);
  await mkdir(join(folder, "ostiary"), { recursive: true });
  await writeFile(join(folder, "ostiary", "config.yaml"), text);
  return { ...NONE, XDG_CONFIG_HOME: folder };
}

const profiles = (command = `cat; echo ' ${ADMIN_TOKEN} '`, more = "") =>
  `${more}registries:
  here: { url: "${registry.url}", token_command: "${command}" }
  there: { url: "${NOWHERE}", token_command: echo nobody }
`;

const works = (run: Run) => {
  expect(run.stderr).toBe("");
  expect(run.stdout).toContain("seen");
  expect(run.exitCode).toBe(0);
};

describe("a profile", () => {
  test("is selected with --registry, and its token comes from a command", async () => {
    const env = await home(profiles());
    works(await cli(["services", "--registry", "here"], { env }));
    works(await cli(["--registry=here", "services"], { env }));
    const document = JSON.stringify({ services: { seen: service("/seen") } });
    const plan = await cli(["diff", "-", "--registry", "here"], { env, input: document });
    expect(plan.stdout).toContain("seen: unchanged");
  });

  test("overrides the environment when it is named; the environment overrides the default profile", async () => {
    const env = await home(profiles(undefined, "default: here\n"));
    works(await cli(["services"], { env }));
    const other = { ...env, REGISTRY_URL: NOWHERE, ADMIN_TOKEN: "wrong" };
    works(await cli(["services", "--registry", "here"], { env: other }));
    expect((await cli(["services"], { env: other })).stderr).toContain(NOWHERE);
  });

  test("is never used with the token of the environment, nor REGISTRY_URL with its token", async () => {
    const env = await home(profiles("false", "default: here\n"));
    const named = await cli(["services", "--registry", "here"], { env: { ...env, ADMIN_TOKEN } });
    expect(named).toMatchObject({ exitCode: 2, stdout: "" });
    const url = await cli(["services"], { env: { ...env, REGISTRY_URL: registry.url } });
    expect(url).toMatchObject({ exitCode: 2, stderr: "Set ADMIN_TOKEN to the registry's admin token.\n" });
  });

  test("is named in messages in place of the environment variables", async () => {
    const env = await home(profiles("echo wrong"));
    const refused = await cli(["services", "--registry", "here"], { env });
    expect(refused.stderr).toStartWith(
      "The registry does not accept the token of the profile here: it must be the token that the registry was started with, ",
    );
    const away = await cli(["services", "--registry", "there"], { env });
    expect(away.stderr).toContain("is the url of the profile there its address?");
  });

  test("is not named in place of the same words in texts of others", async () => {
    const location = "https://elsewhere.example/REGISTRY_URL";
    using other = Bun.serve({ port: 0, fetch: () => Response.redirect(location) });
    const env = await home(`registries: { here: { url: "${other.url.origin}", token_command: echo a } }`);
    const { stderr } = await cli(["services", "--registry", "here"], { env });
    expect(stderr).toContain(`redirects to ${location}: set the url of the profile here to`);
  });

  test("is not read when the environment names a registry, so that a broken file does no harm", async () => {
    const env = await home(": not : YAML [");
    works(await cli(["services"], { env: { ...env, REGISTRY_URL: registry.url, ADMIN_TOKEN } }));
  });
});

describe("exit code 2", () => {
  const here = (fields: string) => `registries: { here: { ${fields} } }`;
  const url = "url: 'http://a:1'";
  test.each([
    [
      "an unknown name",
      `registries: { a: { ${url}, token_command: x } }`,
      "no registry here. The registries are: a.",
    ],
    ["no map", "[]", "must be a map with the key registries"],
    ["broken YAML", "registries: [sesame", "config.yaml line 1: "],
    ["no url", here("token_command: echo sesame"), "registries.here.url"],
    ["an unknown field", here(`${url}, token_command: x, token: sesame`), "registries.here.token"],
    ["no token", here(url), "registries.here.token_command"],
    [
      "a token of two words",
      here(`${url}, token_command: echo sesame open`),
      "the token of the profile here must consist of",
    ],
    ["a wrong url", here("url: 'a:1', token_command: echo sesame"), "the url of the profile here must be"],
    ["a command that fails", here(`${url}, token_command: 'echo sesame; exit 3'`), "failed with exit code 3"],
    ["true as its command", here(`${url}, token_command: true`), "registries.here.token_command must"],
    [
      "a command that writes too much",
      here(`${url}, token_command: "head -c 70000 /dev/zero"`),
      "writes more than 64 KiB, which is too long for a token",
    ],
    ["a command that cannot start", here(`${url}, token_command: "a\\0b"`), "cannot be started"],
    ["more text than profiles have", `# ${"x".repeat(1_048_576)}`, "config.yaml has more than 1 MiB"],
    ["a command without output", here(`${url}, token_command: 'true'`), "wrote no token"],
  ])("is returned for a profiles file with %s", async (_, text, message) => {
    const run = await cli(["services", "--registry", "here"], { env: await home(text) });
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
    expect(run.stderr).toContain(message);
    expect(run.stderr).not.toContain("sesame");
  });

  test("is returned when the profiles file is missing or cannot be read", async () => {
    const env = { ...NONE, XDG_CONFIG_HOME: join(directory(), "nowhere") };
    const run = await cli(["services", "--registry", "here"], { env });
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
    expect(run.stderr).toContain("does not exist: create the file");
    await mkdir(join(directory(), "folder", "ostiary", "config.yaml"), { recursive: true });
    const folder = { ...NONE, XDG_CONFIG_HOME: join(directory(), "folder") };
    expect((await cli(["services", "--registry", "here"], { env: folder })).stderr).toContain(
      "is a directory",
    );
    const device = await home("");
    const path = join(String(device.XDG_CONFIG_HOME), "ostiary", "config.yaml");
    await rm(path);
    await symlink("/dev/zero", path);
    expect((await cli(["services", "--registry", "here"], { env: device })).stderr).toBe(
      `${path} must be a plain file.\n`,
    );
  });
});

describe("ADMIN_TOKEN_FILE", () => {
  const file = async (text: string) => {
    const path = join(directory(), `token-${folders++}`);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };

  test("names a file with the token, and overrides the default profile", async () => {
    const env = await home(profiles("echo wrong", "default: there\n"));
    const ADMIN_TOKEN_FILE = await file(`${ADMIN_TOKEN}\n`);
    works(await cli(["services"], { env: { ...env, REGISTRY_URL: registry.url, ADMIN_TOKEN_FILE } }));
    const nowhere = await cli(["services"], { env: { ...env, ADMIN_TOKEN_FILE } });
    expect(nowhere.stderr).toContain("http://localhost:5002");
  });

  test("is not read when a profile is named", async () => {
    const env = { ...(await home(profiles())), ADMIN_TOKEN_FILE: "/none" };
    works(await cli(["services", "--registry", "here"], { env }));
  });

  test.each([
    ["beside ADMIN_TOKEN", ADMIN_TOKEN, ADMIN_TOKEN, "are both set"],
    ["that does not exist", "/none", "", "ADMIN_TOKEN_FILE "],
    ["that is no file", "/dev/null", "", "ADMIN_TOKEN_FILE must be a plain file"],
    ["that is empty", "", "", "ADMIN_TOKEN_FILE names an empty file"],
    ["with two words", "s3cret word", "", "ADMIN_TOKEN must consist"],
  ])("%s has exit code 2 and a message without the token", async (_, given, token, message) => {
    const path = given.startsWith("/") ? given : await file(given);
    const env = { ADMIN_TOKEN: token, ADMIN_TOKEN_FILE: path };
    const run = await cli(["services"], { env });
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
    expect(run.stderr).toContain(message);
    for (const secret of [ADMIN_TOKEN, "s3cret"]) expect(run.stderr).not.toContain(secret);
  });
});
