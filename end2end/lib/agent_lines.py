"""An agent as a program that is told line by line what to do.

Reads lines of JSON: {"tool", "arguments"}. Writes lines of JSON: {"event": "tools", "names"} once, {"event": "page", "url"}
whenever its person is shown one, and {"event": "answer", …} for every call.
"""

import asyncio
import json
import sys

LONGEST_LINE = 1 << 20


def tell(event, **facts):
    print(json.dumps({"event": event, **facts}), flush=True)


def told(result, meta):
    """A result of either SDK, as the test compares it."""
    return {
        "error": bool(result.is_error),
        "words": "\n".join(getattr(block, "text", "") for block in result.content),
        "structured": result.structured_content,
        "call": (meta or {}).get("countersign/call"),
    }


async def serve(names, call):
    """Tells the tools' names, then does what the lines say until there are no more. `call(tool, arguments)` calls a tool."""
    tell("tools", names=names)
    lines = asyncio.StreamReader(limit=LONGEST_LINE)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        tell("answer", **await call(**json.loads(line)))
