"""Connects to the servers of a file of `mcpServers` with FastMCP, and tells the names of their tools.

mcp_servers.py FILE
"""

import asyncio
import json
import sys

from fastmcp import Client


async def main(file):
    with open(file, encoding="utf-8") as text:
        config = json.load(text)
    async with Client(config, timeout=60) as client:
        print(json.dumps([tool.name for tool in await client.list_tools()]))


asyncio.run(main(*sys.argv[1:]))
