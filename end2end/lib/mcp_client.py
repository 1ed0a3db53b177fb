"""An agent built with the Python SDK: lists its tools, reads, and asks for a mail.

mcp_client.py URL KEY MODE ELICIT: MODE is the SDK's own ("legacy", "auto" or a revision); with ELICIT "yes" its person
can be shown an address. Writes one line of JSON for each thing that happens; its person acts when the page is named.
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

LETTER = {"to": "finance@northwind.example", "subject": "From Python", "body": "Hello."}


def tell(**event):
    print(json.dumps(event), flush=True)


async def elicit(context, params):
    tell(event="page", mode=params.mode, url=params.url)
    return ElicitResult(action="accept")


def told(result):
    meta = result.meta or {}
    return {
        "error": bool(result.is_error),
        "text": "".join(block.text for block in result.content),
        "structured": result.structured_content,
        "call": meta.get("countersign/call"),
    }


async def main(url, key, mode, elicits):
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(url, http_client=http)
        callback = elicit if elicits == "yes" else None
        async with Client(transport, mode=mode, elicitation_callback=callback) as client:
            tools = await client.list_tools()
            tell(event="tools", names=[tool.name for tool in tools.tools])
            tell(event="read", **told(await client.call_tool("count_messages", {})))
            answer = await client.call_tool("send_mail", LETTER)
            tell(event="answer", **told(answer))
            call = (answer.meta or {})["countersign/call"]
            if call["status"] == "held":
                arguments = {"call_id": call["id"], "wait_seconds": 25}
                tell(event="status", **told(await client.call_tool("call_status", arguments)))


asyncio.run(main(*sys.argv[1:]))
