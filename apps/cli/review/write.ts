import type { Effect } from "@ostiary/lib/domain/routes";
import { type Command, Option } from "commander";
import { Flagged, UsageError } from "../errors.ts";
import type { Output } from "../output.ts";
import { reviewMarkdown } from "./markdown.ts";
import { effectsArgument, type Review } from "./review.ts";
import { reviewText } from "./text.ts";

/** How a review is written, and what in it fails the command. */
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
      new Option(
        "--fail-on <effects>",
        "exit code 3 when a change opens something, or breaks callers: opens, breaks, or opens,breaks",
      ).argParser(effectsArgument),
    );
}

/**
 * Writes a review in the form that was asked for, with what `--json` shows of it; throws Flagged when it has what
 * the command fails on.
 */
export type WriteReview = (review: Review, answer: object) => void;

export function reviewWriter(output: Output, { output: form, failOn = [] }: ReviewOptions): WriteReview {
  if (output.isJson && form !== undefined && form !== "json") {
    throw new UsageError(`--json and --output ${form} can not be given together.`);
  }
  return (review, answer) => {
    if (form === "markdown") output.write(reviewMarkdown(review));
    else if (output.isJson || form === "json") output.json(answer);
    else output.write(`${reviewText(review, output.colours).join("\n")}\n`);
    if (failOn.some((effect) => review.counts[effect] > 0)) throw new Flagged();
  };
}
