/** Texts about the program. Data only. */

/** What `weir --help` prints: at most 24 lines of 80 columns. */
export const HELP_TEXT = `\
Weir runs a coding agent for another program, which drives it with JSON lines.

  weir --mode rpc [options] [folder]             commands on stdin, events out
  weir -p [options] [folder] "message"…          one answer on stdout
  weir --mode json [options] [folder] "message"… the same as JSON events
  weir --mode acp                                Agent Client Protocol
  weir setup | trust [folder] | sessions | export ID [file] | schema | doctor

  --dialect circle|nimlet|pi|acp    wire dialect, default circle (WEIR_DIALECT)
  -m, --model ID                    provider/model or model; demo works offline
  --thinking LEVEL                  off minimal low medium high xhigh max
  -t, --tools A,B                   only these tools; -xt A,B without; -nt none
  --yolo, --approvals MODE          deny, ask or allow commands and edits
  --trust, --no-approve             trust the folder for this run, or do not
  -c, --session ID, --session-id ID, --fork ID, -n NAME   which conversation
  --no-session, --session-dir DIR   where it is kept
  --system-prompt TEXT|FILE, --append-system-prompt TEXT|FILE
  -nc, --no-context-files           do not read AGENTS.md and CLAUDE.md
  --extensions                      start MCP servers and extensions
  --api-key KEY, --base-url URL     for the chosen provider
  --verbose, -h, --help, --version

Values may be joined: --model=ID. -- ends the options.`;

/** What is printed when nothing was asked for on a terminal. */
export const NO_MODE_TEXT =
  "weir has no interactive mode: use -p for one answer, --mode rpc, --mode json or --mode acp; " +
  "see weir --help";
