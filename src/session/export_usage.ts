/** Tokens and costs of a conversation as HTML: totals, a chart and a table of its turns. Knows no text of a message. */

import type { AssistantMessage } from "../agent/message.ts";
import type { SessionStats, StoredMessage } from "./command.ts";

interface TurnUsage {
  input: number;
  output: number;
  /** US$; `undefined` when no call was priced. */
  usd: number | undefined;
}

/** Most bars of a chart; with more turns a bar stands for several. */
const MAX_BARS = 80;
/** As many bars as these have room, so that few turns do not make huge ones. */
const MIN_SLOTS = 24;
const HEIGHT = 40;

/** The section about usage. The tables' rows lead to the elements `turn-<n>`. */
export function renderUsage(stats: SessionStats, messages: readonly StoredMessage[]): string {
  const turns = sumTurns(messages);
  return `<section class="usage">\n<h2>Usage</h2>\n${renderTotals(stats)}${
    turns.some(({ input, output }) => input + output > 0) ? renderTurns(turns) : ""
  }</section>\n`;
}

/** What each message of a person led to, until the next one. */
function sumTurns(messages: readonly StoredMessage[]): TurnUsage[] {
  const turns: TurnUsage[] = [];
  for (const { message } of messages) {
    if (message.role === "user" && message.internal === undefined) turns.push(emptyTurn());
    if (message.role !== "assistant") continue;
    if (turns.length === 0) turns.push(emptyTurn());
    addReply(turns.at(-1)!, message);
  }
  return turns;
}

function emptyTurn(): TurnUsage {
  return { input: 0, output: 0, usd: undefined };
}

function addReply(turn: TurnUsage, { usage, receipt }: AssistantMessage): void {
  turn.input += count(usage?.inputTokens);
  turn.output += count(usage?.outputTokens);
  if (typeof receipt?.amount === "number") turn.usd = (turn.usd ?? 0) + count(receipt.amount);
}

function renderTotals(stats: SessionStats): string {
  const { usd, calls, unpricedCalls } = stats.receipts;
  const cached = count(stats.cacheReadTokens);
  const rows = [
    ["Messages", show(stats.userMessages + stats.assistantMessages)],
    ["Tool calls", show(stats.toolCalls)],
    ["Model calls", show(calls)],
    ["Tokens in", show(stats.inputTokens) + (cached > 0 ? small(`${show(cached)} cached`) : "")],
    ["Tokens out", show(stats.outputTokens)],
    [
      "Cost",
      showCost(usd) +
      (unpricedCalls > 0 ? small(`${show(unpricedCalls)} calls without price`) : ""),
    ],
  ];
  const list = rows.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>\n`);
  return `<dl class="totals">\n${list.join("")}</dl>\n`;
}

function renderTurns(turns: readonly TurnUsage[]): string {
  const perBar = Math.ceil(turns.length / MAX_BARS);
  const rule = perBar === 1 ? "per turn" : `per ${perBar} turns`;
  return `<div class="charts">\n${
    renderChart(turns, { perBar, key: "input", title: `Tokens in ${rule}` })
  }${renderChart(turns, { perBar, key: "output", title: `Tokens out ${rule}` })}</div>\n${
    renderTable(turns)
  }`;
}

function renderChart(
  turns: readonly TurnUsage[],
  options: { perBar: number; key: "input" | "output"; title: string },
): string {
  const { perBar, key, title } = options;
  const sums: number[] = [];
  for (let start = 0; start < turns.length; start += perBar) {
    sums.push(turns.slice(start, start + perBar).reduce((sum, turn) => sum + turn[key], 0));
  }
  const most = Math.max(...sums);
  const bars = sums.map((sum, index) => {
    const height = most === 0 ? 0 : Math.max(sum > 0 ? 1 : 0, sum / most * HEIGHT);
    const first = index * perBar + 1;
    const last = Math.min(first + perBar - 1, turns.length);
    const which = first === last ? `Turn ${first}` : `Turns ${first} to ${last}`;
    const place = `x="${index * 10 + 1}" y="${round(HEIGHT - height)}" width="8"`;
    return `<rect ${place} height="${round(height)}"><title>${which}: ${show(sum)}</title></rect>`;
  });
  const width = Math.max(sums.length, MIN_SLOTS) * 10;
  const label = `${title}, ${show(most)} at most`;
  return `<figure class="${key}">\n<figcaption>${title} <span class="quiet">max ${
    show(most)
  }</span></figcaption>\n<svg viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}">${
    bars.join("")
  }</svg>\n</figure>\n`;
}

function renderTable(turns: readonly TurnUsage[]): string {
  const rows = turns.map(({ input, output, usd }, index) => {
    const turn = `<a href="#turn-${index + 1}">${index + 1}</a>`;
    return `<tr><th scope="row">${turn}</th><td>${show(input)}</td><td>${show(output)}</td><td>${
      showCost(usd)
    }</td></tr>\n`;
  });
  const heads = ["Turn", "Tokens in", "Tokens out", "Cost"];
  return `<details class="inner"><summary>All turns</summary>\n<table>\n<thead><tr>${
    heads.map((head) => `<th scope="col">${head}</th>`).join("")
  }</tr></thead>\n<tbody>\n${rows.join("")}</tbody>\n</table>\n</details>\n`;
}

function small(text: string): string {
  return ` <span class="quiet">${text}</span>`;
}

/** Numbers of a file of another program may be anything. */
function count(value: number | undefined): number {
  return value !== undefined && Number.isFinite(value) && value > 0 ? value : 0;
}

function show(value: number): string {
  return count(value).toLocaleString("en-US", { maximumFractionDigits: 0 });
}

function showCost(usd: number | undefined): string {
  if (usd === undefined) return "unknown";
  const digits = usd === 0 || usd >= 1 ? 2 : 4;
  const isTiny = usd > 0 && usd < 0.0001;
  return isTiny ? "&lt; $0.0001" : `$${count(usd).toFixed(digits)}`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
