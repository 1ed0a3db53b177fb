// What the agents of the tests want to send.

/** A mail that passes every rule. */
export function letter(changes = {}) {
  return {
    to: 'finance@northwind.example',
    subject: 'Invoice 1009, corrected',
    body: 'Dear all, the corrected invoice is attached.',
    ...changes,
  };
}

/**
 * Asks for a mail and expects it to be held.
 * @returns {Promise<{id: string, url: string, expires_at: string}>} the call; `url` is its page
 */
export async function hold(agent, { action = 'send_mail', input = letter(), headers } = {}) {
  const answer = await agent.act(action, input, headers);
  if (answer.status !== 202) throw new Error(`${action} was not held: ${answer.status} ${answer.text}`);
  return { id: answer.json.call_id, url: answer.json.approve_url, expires_at: answer.json.expires_at };
}
