// Parts of this page that are packed as text.

/** The bytes of a packed text. */
export async function unpacked(text) {
  const plain = atob(text.trim()),
    bytes = new Uint8Array(plain.length);
  for (let at = 0; at < plain.length; at++) bytes[at] = plain.charCodeAt(at);
  return new Uint8Array(
    await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer(),
  );
}
