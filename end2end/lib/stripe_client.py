"""A program built with the payment service's own SDK. All it knows of the desk is an address and a key. It lets the SDK
repeat by itself what fails, twice, as the SDK's makers advise.

stripe_client.py BASE KEY: reads commands from standard input, one JSON array a line, and answers each with a line.
["list"] lists the customers, ["create", NAME, IDEMPOTENCY_KEY] makes one.
"""

import json
import sys

import stripe


def told(act):
    try:
        return {"answer": act().to_dict()}
    except stripe.StripeError as error:
        return {"status": error.http_status, "body": error.json_body}


def main(base, key):
    client = stripe.StripeClient(key, base_addresses={"api": base}, max_network_retries=2)
    for line in sys.stdin:
        match json.loads(line):
            case ["list"]:
                event = told(client.v1.customers.list)
            case ["create", name, idempotency_key]:
                options = {"idempotency_key": idempotency_key}
                event = told(lambda: client.v1.customers.create({"name": name}, options))
        print(json.dumps(event), flush=True)


main(*sys.argv[1:])
