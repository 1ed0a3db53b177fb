// What a person says over the API, with a token of their own.

/** The held call as its decider is shown it. */
export async function shown(person, id) {
  const held = (await person.list('/v1/approvals')).find((call) => call.id === id);
  if (!held) throw new Error(`${id} is not among the held calls of this person`);
  return held;
}

/** Confirms exactly what is shown now; answers once the decision is recorded. */
export async function confirmCall(person, id, headers) {
  const { preview } = await shown(person, id);
  const decision = { decision: 'confirm', preview_version: preview.version };
  return person.ask('POST', `/v1/calls/${id}/decision`, decision, headers);
}

export function declineCall(person, id, reason) {
  return person.ask('POST', `/v1/calls/${id}/decision`, { decision: 'decline', reason });
}
