"""An agent built with FastMCP.

fastmcp_client.py URL KEY PAGES: with PAGES "yes" its person can be shown an address.
"""

import asyncio
import sys

from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StreamableHttpTransport

from agent_lines import serve, tell, told


async def elicit(message, response_type, params, context):
    tell("page", mode=params.mode, url=params.url)
    return ElicitResult(action="accept")


async def main(url, key, pages):
    transport = StreamableHttpTransport(url, headers={"Authorization": f"Bearer {key}"})
    handler = elicit if pages == "yes" else None
    async with Client(transport, timeout=60, elicitation_handler=handler) as client:
        async def call(tool, arguments):
            result = await client.call_tool(tool, arguments, raise_on_error=False)
            return told(result, result.meta)

        await serve([tool.name for tool in await client.list_tools()], call)


asyncio.run(main(*sys.argv[1:]))
