/** How an exported page looks: light and dark, wide and narrow, on paper. */

/** CSS without anything that is loaded; holds no `<`. */
export const EXPORT_STYLE = `
:root {
  color-scheme: light dark;
  --page: #fbfaf8; --ink: #1d2127; --quiet: #5b636e; --line: #dcdad5; --card: #eef3fb; --edge: #2f66c4;
  --box: #f2f0ec; --good: #1c6f3b; --bad: #b3261e; --open: #7a5900; --add: #dcf3e2; --add-ink: #11552b;
  --del: #fbe3e1; --del-ink: #8c1d18; --hunk: #5a3ea6; --in: #2f66c4; --out: #b3541e;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #15171b; --ink: #e4e6ea; --quiet: #a0a8b4; --line: #31353d; --card: #1b2536; --edge: #7aa7f5;
    --box: #1d2026; --good: #6fcf8f; --bad: #ff8a80; --open: #e3b95b; --add: #14301f; --add-ink: #9be0b1;
    --del: #3a1a1a; --del-ink: #ffb4ac; --hunk: #bda6ff; --in: #7aa7f5; --out: #f0a06b;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 2rem 1rem 4rem; max-width: 52rem; background: var(--page); color: var(--ink);
  font: 1rem/1.55 var(--sans); overflow-wrap: anywhere;
}
h1 { margin: 0 0 .75rem; font-size: 1.6rem; line-height: 1.25; text-wrap: balance; }
h2 {
  margin: 2.25rem 0 .75rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line);
  font-size: .85rem; letter-spacing: .06em; text-transform: uppercase; color: var(--quiet);
}
h3 { display: flex; flex-wrap: wrap; gap: .1rem .6rem; align-items: baseline; margin: 0 0 .4rem; font-size: .9rem; }
h3 .quiet, time { font-weight: 400; font-size: .8rem; }
time { margin-inline-start: auto; color: var(--quiet); white-space: nowrap; }
p { margin: .4rem 0; }
dl, dd, figure { margin: 0; }
.quiet, dt, figcaption { color: var(--quiet); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.facts div { display: flex; gap: .75rem; font-size: .9rem; }
.facts dt { flex: 0 0 5.5rem; }
.facts dd { min-width: 0; font-family: var(--mono); font-size: .85rem; }
.totals { display: grid; grid-template-columns: repeat(3, 1fr); gap: .75rem 1rem; }
.totals dt { font-size: .8rem; }
.totals dd { font-size: 1.05rem; font-variant-numeric: tabular-nums; }
.totals dd .quiet { display: inline-block; font-size: .8rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 16rem), 1fr)); gap: 1rem 1.5rem; margin: 1.25rem 0 .5rem; }
figcaption { margin-bottom: .3rem; font-size: .8rem; }
svg { display: block; width: 100%; height: 3.5rem; border-bottom: 1px solid var(--line); }
.input rect { fill: var(--in); }
.output rect { fill: var(--out); }
table { width: 100%; border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .4rem; border-bottom: 1px solid var(--line); text-align: end; }
th:first-child { text-align: start; }
a { color: var(--edge); }
article { margin: 1.25rem 0 .75rem; padding: .1rem 0; }
.user { padding: .7rem .9rem; border-inline-start: 3px solid var(--edge); border-radius: 4px; background: var(--card); }
.user, .assistant, .tool { content-visibility: auto; contain-intrinsic-size: auto 2.5rem; scroll-margin-top: 1rem; }
.user:target { outline: 2px solid var(--edge); }
.text { white-space: pre-wrap; tab-size: 4; unicode-bidi: plaintext; }
.text + pre, pre + .text { margin-top: .6rem; }
pre, code { font-family: var(--mono); font-size: .85rem; }
code { padding: .1em .3em; border-radius: 3px; background: var(--box); }
pre {
  margin: .5rem 0; padding: .6rem .75rem; max-height: 70vh; overflow: auto; border: 1px solid var(--line); border-radius: 6px;
  background: var(--box); line-height: 1.45; white-space: pre; overflow-wrap: normal; tab-size: 4; unicode-bidi: isolate;
}
.diff ins, .diff del, .diff .hunk, .diff .quiet { display: inline-block; min-width: 100%; text-decoration: none; }
.diff ins { background: var(--add); color: var(--add-ink); }
.diff del { background: var(--del); color: var(--del-ink); }
.diff .hunk { color: var(--hunk); }
details { margin: .35rem 0; font-size: .9rem; }
summary { padding: .2rem 0; cursor: pointer; }
.tool > summary { font-family: var(--mono); font-size: .85rem; }
.tool[open], .thinking[open] { padding-bottom: .4rem; }
.tool .about { color: var(--quiet); }
.thinking, .inner > summary, .thinking > summary { color: var(--quiet); }
.thinking .text { padding-inline-start: .9rem; border-inline-start: 2px solid var(--line); }
.inner dt { margin-top: .4rem; font-size: .8rem; }
.good { color: var(--good); font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; }
.open { color: var(--open); font-weight: 600; }
.note { color: var(--bad); }
a:focus-visible, summary:focus-visible, pre:focus-visible { outline: 2px solid var(--edge); outline-offset: 2px; border-radius: 3px; }
@media (max-width: 40rem) {
  body { padding-top: 1.25rem; }
  h1 { font-size: 1.35rem; }
  .totals { grid-template-columns: repeat(2, 1fr); }
  .facts div { display: block; margin-bottom: .35rem; }
  time { margin-inline-start: 0; }
}
@media print {
  body { max-width: none; padding: 0; }
  pre { max-height: none; white-space: pre-wrap; overflow-wrap: anywhere; }
  .user, .assistant, .tool { content-visibility: visible; }
}
`.trimStart();
