import { assertEquals } from "@std/assert";
import { fileUrl } from "../../src/extensions/file_url.ts";

Deno.test("fileUrl() encodes what has a meaning in an address", () => {
  assertEquals(fileUrl("/a/b.js"), "file:///a/b.js");
  assertEquals(fileUrl("/a b/é#?%\\.js"), "file:///a%20b/%C3%A9%23%3F%25%5C.js");
});

Deno.test("fileUrl() knows drives and shares of Windows", () => {
  assertEquals(fileUrl("C:\\a b\\c.js"), "file:///C:/a%20b/c.js");
  assertEquals(fileUrl("C:/a/c.js"), "file:///C:/a/c.js");
  assertEquals(fileUrl("\\\\server\\share\\c.js"), "file://server/share/c.js");
});
