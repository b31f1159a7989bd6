import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

/** How to start an MCP server. */
export interface ServerCommand {
  command: string;
  args: string[];
  env: Record<string, string>;
}

/** Starts an MCP server and connects to it, like an AI agent. */
export async function connectAgent(
  server: ServerCommand,
  options?: ClientOptions,
): Promise<Client> {
  const agent = new Client({ name: 'agent', version: '1.0.0' }, options);
  await agent.connect(new StdioClientTransport({ ...server, stderr: 'ignore' }));
  return agent;
}

/** The result of a tool. */
export interface Called {
  text: string;
  isError: boolean;
}

/** @param signal aborts the call: the agent gives up */
export async function callTool(
  agent: Client,
  name: string,
  args: Record<string, unknown> = {},
  signal?: AbortSignal,
): Promise<Called> {
  const options = { ...(signal && { signal }) };
  const { content, isError = false } = await agent.callTool({ name, arguments: args }, options);
  const texts = content.map((part) => (part.type === 'text' ? part.text : ''));
  return { text: texts.join(''), isError };
}
