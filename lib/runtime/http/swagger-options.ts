import type { TSchema } from "@sinclair/typebox";

/** What a service says of its API beside its routes. */
export interface SwaggerOptions {
  title: string;
  description: string;
  tags: { name: string; description: string }[];
  /** Larger request bodies are 413. */
  body_bytes_max: number;
  /** Adds an Authorize button for a bearer token that every operation needs. */
  bearer_description?: string;
  /** Headers of every response, by name with their schemas. */
  response_headers?: Record<string, TSchema>;
}
