import type { TSchema } from "@sinclair/typebox";
import type { TypeCheck } from "@sinclair/typebox/compiler";
import { type ElysiaAdapter, ParseError } from "elysia";
import { BunAdapter } from "elysia/adapter/bun";

/** A part of a request, or an answer, that does not fit its schema. */
export class SchemaFailure extends Error {
  /** `body`, `query`, `params`, `headers`, or `response`. */
  readonly part: string;
  readonly validator: TypeCheck<TSchema>;
  readonly value: unknown;

  /** Called by the code that Elysia writes for a route, with the arguments of its own error. */
  constructor(part: string, validator: TypeCheck<TSchema>, value: unknown) {
    super(`The ${part} does not fit its schema.`);
    this.name = "SchemaFailure";
    this.part = part;
    this.validator = validator;
    this.value = value;
  }
}

/**
 * Elysia's adapter for Bun, with {@link SchemaFailure} in the place of Elysia's `ValidationError`. That one prints
 * the whole value with indentation, unless NODE_ENV is production: what a request could be made to cost, and what
 * the log would be told, depended on a variable that is none of ours.
 */
export const schemaFailureAdapter: ElysiaAdapter = {
  ...BunAdapter,
  composeHandler: {
    ...BunAdapter.composeHandler,
    inject: {
      ...BunAdapter.composeHandler.inject,
      error: { ValidationError: SchemaFailure, ParseError },
    },
  },
};
