/** The `file:` address of an absolute path, of a Unix or a Windows one. Web standards only. */
export function fileUrl(path: string): string {
  const isWindows = /^(?:[A-Za-z]:)?[\\]|^[A-Za-z]:\//.test(path);
  const parts = (isWindows ? path.replaceAll("\\", "/") : path).split("/");
  const [first = "", ...rest] = parts.map((part, index) =>
    isWindows && index === 0 ? part : encodeURIComponent(part)
  );
  // `C:\a` has its drive where a Unix path has nothing; `\\server\share` begins with two empty parts.
  if (first !== "") return `file:///${[first, ...rest].join("/")}`;
  const isShare = isWindows && rest[0] === "";
  return isShare ? `file://${rest.slice(1).join("/")}` : `file:///${rest.join("/")}`;
}
