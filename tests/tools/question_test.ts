import { assertEquals, assertRejects } from "@std/assert";
import type { JsonObject } from "../../src/agent/message.ts";
import { createMemoryHost } from "../../src/memory/memory_host.ts";
import { questionTool } from "../../src/tools/question.ts";
import { createMemoryContext, createToolContext, runTool, successText } from "./_tool_context.ts";

Deno.test("question lists its questions and tells the model to put them to the person", async () => {
  const args: JsonObject = {
    questions: [
      { question: "Which port?", header: "Port", options: [{ label: "80" }, { label: "443" }] },
      { question: "What else?" },
      {
        question: "Which parts?",
        multiple: true,
        options: [{ label: "A", description: "the first" }, "B"],
      },
    ],
  };
  assertEquals(
    successText(await runTool(questionTool, args, createMemoryContext())),
    [
      "USER_QUESTIONS",
      "1. Port: Which port?",
      "   - 80",
      "   - 443",
      "2. What else?",
      "3. Which parts? (several may be chosen)",
      "   - A: the first",
      "   - B",
      "",
      "Nobody can answer while you work. Put these questions, with their options, to the person in your answer and end your turn.",
    ].join("\n"),
  );
});

Deno.test("question takes other names and ignores keys that it does not know", () => {
  const plain = { header: undefined, multiple: false };
  assertEquals(
    questionTool.parse({
      questions: [
        { prompt: "a?", choices: ["x", { text: "y", description: null }], multiSelect: true },
        { question: "b?", prompt: "c?", secret: true, options: null },
      ],
    }),
    {
      ok: true,
      value: {
        questions: [
          {
            ...plain,
            question: "a?",
            multiple: true,
            options: [
              { label: "x", description: undefined },
              { label: "y", description: undefined },
            ],
          },
          { ...plain, question: "b?", options: [] },
        ],
      },
    },
  );
});

Deno.test("question names what is wrong with its arguments", () => {
  const cases: [JsonObject, string][] = [
    [{}, "questions is required"],
    [{ questions: "a?" }, "questions: expected a list"],
    [{ questions: [] }, "questions: expected at least one question"],
    [{ questions: ["a?"] }, "questions[0]: expected an object"],
    [{ questions: [{}] }, "questions[0].question: expected a string that is not empty"],
    [
      { questions: [{ prompt: " " }] },
      "questions[0].question: expected a string that is not empty",
    ],
    [{ questions: [{ prompt: "a", header: 1 }] }, "questions[0].header: expected a string"],
    [{ questions: [{ prompt: "a", options: {} }] }, "questions[0].options: expected a list"],
    [
      { questions: [{ prompt: "a", options: [1] }] },
      "questions[0].options[0]: expected a string or an object",
    ],
    [
      { questions: [{ prompt: "a", options: [{}] }] },
      "questions[0].options[0].label: expected a string",
    ],
    [
      { questions: [{ prompt: "a", multiple: 1 }] },
      "questions[0].multiple: expected true or false",
    ],
    [{ questions: [{ prompt: "a" }], x: 1 }, "unknown argument: x"],
  ];
  for (const [args, problem] of cases) {
    assertEquals(questionTool.parse(args), { ok: false, problem });
  }
});

Deno.test("question throws the reason when it is aborted", async () => {
  const reason = new Error("stop");
  const signal = AbortSignal.abort(reason);
  const context = createToolContext(createMemoryHost(), { signal });
  const args = { questions: [{ question: "a?" }] };
  assertEquals(await assertRejects(() => runTool(questionTool, args, context)), reason);
});
