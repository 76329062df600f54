import type { Effect } from "@ostiary/lib/domain/routes";
import { type Command, Option } from "commander";
import { Flagged, UsageError } from "../exit-codes.ts";
import type { Output } from "../output.ts";
import { reviewMarkdown } from "./markdown.ts";
import { effectsArgument, type Review } from "./review.ts";
import { reviewText } from "./review-text.ts";

/** The format of a review, and the effects that fail the command. */
export interface ReviewOptions {
  output?: "text" | "json" | "markdown";
  failOn?: Effect[];
}

/** Adds the options of a command that writes a review. */
export function addReviewOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--output <format>", "how to write the changes").choices(["text", "json", "markdown"]),
    )
    .addOption(
      new Option("--fail-on <effects>", "exit code 3 if a change opens a route, or breaks callers")
        .choices(["opens", "breaks", "opens,breaks"])
        .argParser(effectsArgument),
    );
}

/**
 * Writes a review in the chosen format. `json` is the output for `--json`.
 * @throws Flagged when the review has an effect that fails the command
 */
type WriteReview = (review: Review, json: object) => void;

export function reviewWriter(output: Output, { output: form, failOn = [] }: ReviewOptions): WriteReview {
  if (output.isJson && form !== undefined && form !== "json") {
    throw new UsageError(`--json and --output ${form} cannot be given together.`);
  }
  return (review, json) => {
    if (form === "markdown") output.write(reviewMarkdown(review));
    else if (output.isJson || form === "json") output.json(json);
    else output.write(`${reviewText(review, output.colors).join("\n")}\n`);
    if (failOn.some((effect) => review.counts[effect] > 0)) throw new Flagged();
  };
}
