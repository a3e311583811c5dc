"""A little agent that records its run with Rerail: Python 3.8 or newer, standard library only."""

import hashlib
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

CONSOLE = os.environ.get("RERAIL_CONSOLE_URL", "http://127.0.0.1:3000")
TOKEN = os.environ.get("RERAIL_TOKEN")
WORKER = "greeter-" + uuid.uuid4().hex
MACHINE = {
    "agent": "greeter",
    "provenance": "declared",
    "initial": "look_up",
    "states": {
        "look_up": {"transitions": ["greet"], "tools": ["find_name"]},
        "greet": {"transitions": [], "tools": [], "final": True},
    },
    "tools": {
        "find_name": {"effect": "read", "keyed": False, "verify": False, "timeoutMs": 10000,
                      "settlesWithinMs": 0, "keyValidForMs": 0, "retries": 0},
    },
}


def call(method, path, body):
    headers = {"content-type": "application/json"}
    if TOKEN:
        headers["authorization"] = "Bearer " + TOKEN
    request = urllib.request.Request(CONSOLE + "/api/v1" + path, json.dumps(body).encode(), headers, method=method)
    # Whatever is sent here may be sent again: the console knows runs, batches and machines by their names.
    for wait in (0.2, 1, 5, None):
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refusal:
            return refusal.code, json.load(refusal)
        except OSError as gone:
            if wait is None:
                raise SystemExit(f"{CONSOLE} does not answer: {gone}")
            time.sleep(wait)


def must(method, path, body):
    status, answer = call(method, path, body)
    if status >= 300:
        raise SystemExit(f"{path}: {answer['title']}. {answer['detail']}")
    return answer


class Run:
    """Holds one run. Whatever is appended keeps it held; silent for `leaseMs`, it counts as interrupted."""

    def __init__(self, agent, machine, value):
        # A machine is stored under its digest; the refusal of a wrong one says the right one.
        status, answer = call("PUT", "/machines/" + "0" * 64, machine)
        if status != 422:
            raise SystemExit(f"/machines: {answer['title']}. {answer['detail']}")
        digest = answer["expected"]
        must("PUT", "/machines/" + digest, machine)
        lease = must("POST", "/runs", {
            "runId": uuid.uuid4().hex, "workerId": WORKER, "agent": agent, "machineDigest": digest, "input": {"value": value}})
        self.id, self.lease, self.epoch, self.seen = lease["runId"], lease["leaseId"], lease["epoch"], lease["headSeq"]
        self.batch, self.payloads = 0, []

    def value(self, value):
        """A value travels once, beside the events that refer to it by digest."""
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        digest = hashlib.sha256(text.encode()).hexdigest()
        self.payloads.append({"sha256": digest, "codec": "json", "text": text})
        return {"sha256": digest, "codec": "json", "bytes": len(text.encode())}

    def append(self, *events):
        self.batch += 1
        answer = must("POST", f"/runs/{urllib.parse.quote(self.id, safe='')}/events", {
            "epoch": self.epoch, "batch": self.batch, "seenSeq": self.seen,
            "events": list(events), "payloads": self.payloads})
        self.seen, self.payloads = answer["headSeq"], []

    def tool(self, state, name, run, argument):
        """One recorded call: what it is given is stored before it leaves, what it gives after it came."""
        key, given = f"{state}#1/{name}#1", self.value(argument)
        self.append({"kind": "step.started", "stepKey": key, "name": name, "step": "tool", "effect": "read",
                     "attempt": 1, "input": given, "inputDigest": given["sha256"]})
        result = run(argument)
        self.append({"kind": "step.completed", "stepKey": key, "attempt": 1, "recorded": True, "result": self.value(result)})
        return result

    def release(self):
        must("POST", f"/leases/{urllib.parse.quote(self.lease, safe='')}/release", {"epoch": self.epoch, "outcome": "done"})


run = Run("greeter", MACHINE, {"user": 7})
try:
    run.append({"kind": "state.entered", "key": "look_up#1", "state": "look_up", "visit": 1})
    name = run.tool("look_up", "find_name", lambda asked: {"name": "Ada", "user": asked["user"]}, {"user": 7})["name"]
    run.append({"kind": "state.left", "key": "look_up#1", "state": "look_up", "visit": 1, "to": "greet"},
               {"kind": "state.entered", "key": "greet#1", "state": "greet", "visit": 1, "from": "look_up"})
    run.append({"kind": "run.completed", "result": run.value(f"Hello, {name}!")})
except Exception as error:
    run.append({"kind": "run.failed", "cause": "error", "error": {"type": type(error).__name__, "message": str(error)}})
    raise
finally:
    run.release()
print(f"{CONSOLE}/runs/{urllib.parse.quote(run.id, safe='')}")
