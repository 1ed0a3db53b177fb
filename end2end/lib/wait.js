// Waiting for something to become true, never for a length of time.

/**
 * Asks again until `ask` returns something true, and returns it.
 * @template T
 * @param {string} what what is waited for, for the message
 * @param {() => Promise<T> | T} ask
 * @param {number} [limit] milliseconds
 * @returns {Promise<T>}
 */
export async function until(what, ask, limit = 20_000) {
  const end = Date.now() + limit;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`waited ${limit} ms for ${what}`);
    await new Promise((again) => setTimeout(again, 25));
  }
}
