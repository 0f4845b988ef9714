/** A conversation as one HTML page that needs nothing else. Pure; knows no file. */

import type { SessionStats, StoredMessage } from "./command.ts";
import { renderMessages } from "./export_messages.ts";
import { EXPORT_STYLE } from "./export_style.ts";
import { escapeText, shortenText } from "./export_text.ts";
import { renderUsage } from "./export_usage.ts";

/** What a page is made of. */
export interface ExportData {
  readonly sessionId: string;
  /** The name, or what stands for it; `""` when there is neither. */
  readonly title: string;
  /** `""` when it is not known. */
  readonly model: string;
  readonly workspace: string;
  readonly messages: readonly StoredMessage[];
  readonly stats: SessionStats;
}

const TITLE_LENGTH = 200;

/** Neither scripts nor anything from elsewhere, whatever the page should turn out to hold. */
const CONTENT_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/**
 * The page: valid HTML without scripts and external resources. No text of the conversation can change its structure or direction. Takes
 * time linear in the size of the messages.
 */
export function renderHtml(data: ExportData): string {
  const { sessionId, title, model, workspace, messages, stats } = data;
  const heading = escapeText(shortenText(title, TITLE_LENGTH) || sessionId);
  const parts = [
    `<!DOCTYPE html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${CONTENT_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="weir">
<title>${heading}</title>
<style>
${EXPORT_STYLE}</style>
</head>
<body>
<header>
<h1 dir="auto">${heading}</h1>
<dl class="facts">
${renderFact("Session", sessionId)}${renderFact("Model", model)}${
      renderFact("Workspace", workspace)
    }</dl>
</header>
<main>
`,
    renderUsage(stats, messages),
    "<section>\n<h2>Conversation</h2>\n",
  ];
  const empty = parts.length;
  for (const part of renderMessages(messages)) parts.push(part);
  if (parts.length === empty) parts.push('<p class="quiet">No messages yet</p>\n');
  parts.push("</section>\n</main>\n</body>\n</html>\n");
  return parts.join("");
}

function renderFact(name: string, value: string): string {
  return value === ""
    ? ""
    : `<div><dt>${name}</dt><dd><bdi>${escapeText(value)}</bdi></dd></div>\n`;
}
