"""An agent built with FastMCP: lists its tools, reads, and asks for a mail, again with the same key, and for another one.

fastmcp_client.py URL KEY. Writes one line of JSON for each thing that happens. Whoever reads them decides the two calls that
wait.
"""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

LETTER = {"to": "finance@northwind.example", "subject": "From FastMCP", "body": "Hello."}


def tell(event, result=None, **facts):
    if result is not None:
        meta = getattr(result, "meta", None) or {}
        facts |= {
            "error": bool(result.is_error),
            "text": "".join(getattr(block, "text", "") for block in result.content),
            "structured": result.structured_content,
            "call": meta.get("countersign/call"),
        }
    print(json.dumps({"event": event, **facts}), flush=True)
    return facts


async def main(url, key):
    transport = StreamableHttpTransport(url, headers={"Authorization": f"Bearer {key}"})
    async with Client(transport, timeout=60) as client:
        async def call(event, tool, **arguments):
            return tell(event, await client.call_tool(tool, arguments, raise_on_error=False))

        async def end_of(event, held):
            await call(event, "call_status", call_id=held["call"]["id"], wait_seconds=25)

        tell("tools", names=[tool.name for tool in await client.list_tools()])
        await call("read", "count_messages")
        held = await call("held", "send_mail", idempotency_key="first", **LETTER)
        await end_of("ended", held)
        await call("again", "send_mail", idempotency_key="first", **LETTER)
        other = await call("other", "send_mail", idempotency_key="second", **LETTER)
        await end_of("declined", other)


asyncio.run(main(*sys.argv[1:]))
