/** The logo as a data URL: an arch with a keyhole, in the accent color of the pages. */
export const OSTIARY_ICON = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M5 29V15a11 11 0 0 1 22 0v14z" fill="#0b5f59"/><circle cx="16" cy="15" r="3.6" fill="#fff"/><path d="M14.4 16.5h3.2l1 8h-5.2z" fill="#fff"/></svg>`,
)}`;
