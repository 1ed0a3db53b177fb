"""What README.md says of the Python SDK, as a program."""

import asyncio
import json
import os


async def main(desk, key):
    # README
            names = [tool.name for tool in (await client.list_tools()).tools]
            read = (await client.call_tool("count_messages", {})).content[0].text
    print(json.dumps({"names": names, "read": read, "held": result.content[0].text}))


asyncio.run(main(os.environ["DESK"], os.environ["AGENT_KEY"]))
