import {
  CredentialValidationRequest,
  IdpValidationRequest,
  ValidationResult,
} from "@ostiary/lib/contracts/admission";
import { VALIDATE_PATH } from "@ostiary/lib/contracts/internal-api";
import { validationError } from "@ostiary/lib/domain/errors";
import { noQuery } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { answer, bodyErrors } from "../answers.ts";
import type { Dependencies } from "../dependencies.ts";
import { checkedSubject } from "../users/user.ts";
import { validateCredential, validateSubject } from "./commands.ts";
import type { ValidationMetrics } from "./metrics.ts";

/** Both forms as optional fields of one object, so that a wrong body is told apart field by field. */
const ValidateBody = Type.Object(
  {
    idp: Type.Optional(IdpValidationRequest.properties.idp),
    credential: Type.Optional(CredentialValidationRequest.properties.credential),
  },
  {
    additionalProperties: false,
    title: "Validate request",
    description: "Exactly one of idp and credential.",
    examples: [{ credential: CredentialValidationRequest.properties.credential.examples?.[0] }],
  },
);

/** `POST /internal/credentials/validate` (contract 4, Admission). */
export function validationRoutes(deps: Dependencies, metrics: ValidationMetrics) {
  return new Elysia({ name: "validations", normalize: false }).post(
    VALIDATE_PATH,
    async ({ body: { idp, credential } }) => {
      if (idp !== undefined && credential === undefined) {
        return metrics.answered("person", await validateSubject(deps, checkedSubject(idp)));
      }
      if (credential !== undefined && idp === undefined) {
        return metrics.answered("credential", await validateCredential(deps, credential));
      }
      throw validationError([
        {
          path: idp === undefined ? "" : "credential",
          message: "The body must have exactly one of idp and credential.",
        },
      ]);
    },
    {
      query: noQuery,
      body: ValidateBody,
      response: {
        200: answer(ValidationResult, "Whom it stands for, or that it is not valid."),
        ...bodyErrors("UNAUTHORIZED"),
      },
      detail: {
        summary: "Validate a credential",
        description: "Called by the gateway. Answers whom a JWT subject, an API key or a session stands for.",
        operationId: "validateCredential",
        tags: ["Internal"],
      },
    },
  );
}
