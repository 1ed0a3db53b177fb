"""What README.md says of OpenAI Agents, as a program: the agent with the desk's tools, driven by a model that says what is
written here."""

import asyncio
import json
import os

from agents import Model, ModelResponse, RunConfig, Runner, ToolCallOutputItem, Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

LETTER = {"to": "finance@northwind.example", "subject": "Hello", "body": "From a README."}


def wants(name, **arguments):
    return ResponseFunctionToolCall(
        type="function_call", call_id=f"of-{name}", name=name, arguments=json.dumps(arguments)
    )


def says(text):
    block = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(id="1", type="message", role="assistant", status="completed", content=[block])


class Written(Model):
    """A model whose every word is written here; it learns what tools there are."""

    def __init__(self, *outputs):
        self.outputs = iter(outputs)
        self.tools = []

    async def get_response(self, system_instructions, input, model_settings, tools, *args, **kwargs):
        self.tools = [tool.name for tool in tools]
        return ModelResponse(output=[next(self.outputs)], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


def text(item):
    output = item.output
    return output if isinstance(output, str) else output["text"]


async def main(desk, key):
    # README
        model = Written(wants("count_messages"), wants("send_mail", **LETTER), says("It waits for a person."))
        run = await Runner.run(agent, "Send the mail.", run_config=RunConfig(model=model, tracing_disabled=True))
    read, held = [text(item) for item in run.new_items if isinstance(item, ToolCallOutputItem)]
    print(json.dumps({"names": model.tools, "read": read, "held": held}))


asyncio.run(main(os.environ["DESK"], os.environ["AGENT_KEY"]))
