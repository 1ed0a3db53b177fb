"""An agent built with the Python SDK.

mcp_client.py URL KEY MODE PAGES: MODE is the SDK's own ("legacy", "auto" or a revision); with PAGES "yes" its person can be
shown an address.
"""

import asyncio
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

from agent_lines import serve, tell, told


async def elicit(context, params):
    tell("page", mode=params.mode, url=params.url)
    return ElicitResult(action="accept")


async def main(url, key, mode, pages):
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(url, http_client=http)
        callback = elicit if pages == "yes" else None
        async with Client(transport, mode=mode, elicitation_callback=callback) as client:
            async def call(tool, arguments):
                result = await client.call_tool(tool, arguments)
                return told(result, result.meta)

            await serve([tool.name for tool in (await client.list_tools()).tools], call)


asyncio.run(main(*sys.argv[1:]))
