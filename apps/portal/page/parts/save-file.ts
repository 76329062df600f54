/** Lets the browser save a file. */
export function saveFile(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // Keeps the address valid until the browser has begun to read the file.
  setTimeout(() => URL.revokeObjectURL(address), SAVED_WITHIN_MS);
}

const SAVED_WITHIN_MS = 60_000;
