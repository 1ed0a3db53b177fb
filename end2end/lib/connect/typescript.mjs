// What README.md says of the TypeScript SDK, as a program.
const { DESK: desk, AGENT_KEY: key } = process.env;
const letter = { to: 'finance@northwind.example', subject: 'Hello', body: 'From a README.' };

// README

const { tools } = await client.listTools();
const read = await client.callTool({ name: 'count_messages', arguments: {} });
const held = await client.callTool({ name: 'send_mail', arguments: letter });
await client.close();
console.log(JSON.stringify({ names: tools.map(({ name }) => name), read: read.content[0].text, held: held.content[0].text }));
