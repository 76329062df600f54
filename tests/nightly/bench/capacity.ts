import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { ROOT } from "../../support/root.ts";
import type { Bench } from "./bench.ts";
import stored from "./capacity/figures.json" with { type: "json" };
import { type Figures, figuresFrom, figuresWith, StoredFigures } from "./capacity/figures.ts";
import { pageWith, perCore, plansOf } from "./capacity/page.ts";
import storedSpeed from "./floor/speed.json" with { type: "json" };
import { Speed } from "./floor/speed.ts";
import { table } from "./measure/table.ts";

const FIGURES = join(import.meta.dir, "capacity/figures.json");
const PAGE = join(ROOT, ".github/guides/capacity.md");

/**
 * Returns the bench `capacity`, which prints how many processes and cores serve a number of requests a
 * second. The numbers come from a model; its input is `capacity/figures.json`.
 *
 * @param allBenches the path of a file with the output of `bench all --json`. If given, the bench takes the
 * figures from it, and updates `figures.json` and the capacity guide
 */
export function capacityFrom(allBenches: string | undefined): Bench {
  return {
    summary:
      "how many processes serve 1 000 to 100 000 requests a second; capacity FILE reads the output of bench all --json",
    async run() {
      const speed = Value.Parse(Speed, storedSpeed);
      const figures =
        allBenches === undefined
          ? figuresWith(Value.Parse(StoredFigures, stored), speed)
          : await taken(allBenches, speed);
      const [head, rows] = plansOf(figures);
      const parts = [table(["one core carries each second", ""], perCore(figures)), table(head, rows)];
      return {
        parts: [`Computed from the figures of ${figures.taken}`, ...parts],
        data: { figures, plans: [head, ...rows] },
      };
    },
  };
}

async function taken(path: string, speed: Speed): Promise<Figures> {
  const file = Bun.file(path);
  const day = new Date(file.lastModified).toISOString().slice(0, 10);
  const measured = figuresFrom(await file.json(), Value.Parse(StoredFigures, stored), day);
  const figures = figuresWith(measured, speed);
  await Bun.write(FIGURES, `${JSON.stringify(measured, null, 2)}\n`);
  await Bun.write(PAGE, pageWith(await Bun.file(PAGE).text(), figures));
  return figures;
}
