/** Tests of the package `@ostiary/client` as its users install it. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { wordsOf } from "../../support/words.ts";
import { installedClient } from "./bed.ts";

setDefaultTimeout(240_000);

const COMPRESSED_MAX = 12_000;

describe("the package of the client", () => {
  // CL-11
  test("has modules, their types, its README and the license, and nothing else", async () => {
    const folder = join(await installedClient(), "node_modules/@ostiary/client");
    const found = await Array.fromAsync(new Bun.Glob("**").scan({ cwd: folder, dot: true }));
    // Bun marks the folders of archives that it installs.
    const files = found.filter((file) => file !== ".bun-tag");
    const modules = files.filter((file) => file.endsWith(".js")).map((file) => file.slice(0, -".js".length));
    expect(files.toSorted()).toEqual(
      [
        ...wordsOf("LICENSE README.md apis/gateway.d.ts apis/registry.d.ts package.json"),
        ...modules.flatMap((module) => [`${module}.js`, `${module}.d.ts`]),
      ].toSorted(),
    );
    expect(modules).toContain("index");
  });

  // CL-11
  test("depends on no package of the repository and on no code of Node or Bun", async () => {
    const folder = join(await installedClient(), "node_modules/@ostiary/client");
    const { dependencies, exports } = await Bun.file(join(folder, "package.json")).json();
    const imported = new Set<string>();
    const sources = [];
    for await (const file of new Bun.Glob("*.{js,d.ts}").scan({ cwd: folder, absolute: true })) {
      const text = await Bun.file(file).text();
      sources.push(text);
      for (const [, from = ""] of text.matchAll(/(?:from|import\() ?"([^"]+)"/g))
        if (!/^\.\/[a-z-]+\.js$|^\.\/apis\/gateway\.d\.ts$/.test(from)) imported.add(from);
    }
    expect([...imported].toSorted()).toEqual(Object.keys(dependencies).toSorted());
    expect(Object.keys(exports)).toEqual([".", "./registry", "./webhooks"]);
    expect(sources.join("\n")).not.toMatch(/\b(Bun|Buffer|process|require)\b[.(]/);
  });

  // CL-11
  test("has less than 12 kB with its dependencies, minified and compressed", async () => {
    const folder = await installedClient();
    const entry = join(folder, "whole.js");
    await Bun.write(entry, 'export * from "@ostiary/client";\nexport * from "@ostiary/client/webhooks";\n');
    const { outputs } = await Bun.build({ entrypoints: [entry], target: "browser", minify: true });
    const [bundle] = outputs;
    if (bundle === undefined) throw new Error("The bundler wrote nothing.");
    const { length } = Bun.gzipSync(await bundle.arrayBuffer());
    expect(length).toBeGreaterThan(1_000);
    expect(length).toBeLessThan(COMPRESSED_MAX);
  });
});
