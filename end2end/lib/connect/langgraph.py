"""What README.md says of LangGraph, as a program: a graph with the desk's tools, driven by a model that says what is written
here."""

import asyncio
import json
import os

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

LETTER = {"to": "finance@northwind.example", "subject": "Hello", "body": "From a README."}


def wants(name, **arguments):
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"of-{name}", "type": "tool_call"}])


def agent(tools):
    says = iter([wants("count_messages"), wants("send_mail", **LETTER), AIMessage("It waits for a person.")])
    model = GenericFakeChatModel(messages=says)
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


def text(message):
    content = message.content
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


async def main(desk, key):
    # README
    state = await agent(tools).ainvoke({"messages": [("user", "Send the mail.")]})
    read, held = [text(message) for message in state["messages"] if isinstance(message, ToolMessage)]
    print(json.dumps({"names": [tool.name for tool in tools], "read": read, "held": held}))


asyncio.run(main(os.environ["DESK"], os.environ["AGENT_KEY"]))
