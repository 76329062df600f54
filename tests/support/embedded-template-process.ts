import { useEmbeddedTemplate } from "./embedded-template.ts";

/** A preload for a process under test. */
useEmbeddedTemplate({ folders: true });
