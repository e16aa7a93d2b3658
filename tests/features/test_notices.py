# ruff: noqa: E501 (what services say, a case a line)
"""Notices of the end of a machine or a job: of systemd, clouds, Kubernetes and batch systems."""

import json
import os
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from draws import examples
from http_answers import serving
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from waiting import HANG, until

from sssjob import registry
from sssjob.errors import InvalidValue
from sssjob.features.batch.directories import announce, announce_in, make_machine
from sssjob.features.keys import MACHINE_FEATURES
from sssjob.features.notices import (
    DRAINING,
    JOB,
    MACHINE,
    Notice,
    Surroundings,
    clouds,
    names,
    usual,
)
from sssjob.features.read import read
from sssjob.features.watch import NoticeChange, Watch
from sssjob.features.write import put, remove, write

DATA = Path(__file__).parents[1] / "data"
NOW = 1795000000


def told(name, asked, now=NOW):
    watch = Watch((name,), asked)
    watch.look(now)
    return sorted(watch.standing.values()), watch.problems


def systemd(root, text):
    place = root / "run/systemd/shutdown"
    place.mkdir(parents=True)
    (place / "scheduled").write_text(text)
    return Surroundings({}, root=str(root))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("USEC=1795003600000000\nWARN_WALL=1\nMODE=poweroff\n", [(1795003600, "poweroff")]),
        ("USEC=1795003600999999\nMODE=reboot\n", [(1795003600, "reboot")]),
        ("USEC=1795003600000000\nMODE=dry-poweroff\n", []),
    ],
)
def test_a_shutdown_that_systemd_has_scheduled(tmp_path, text, found):
    notices = [Notice(MACHINE, moment, "systemd", why) for moment, why in found]
    assert told("systemd", systemd(tmp_path, text)) == (notices, {})


@pytest.mark.parametrize(
    "text", ["MODE=poweroff\n", "USEC=-5", "USEC=NaN", "USEC=soon", "", "\0" * 9]
)
def test_a_file_of_systemd_that_says_no_moment_is_told(tmp_path, text):
    notices, problems = told("systemd", systemd(tmp_path, text))
    assert (notices, "is not USEC=MICROSECONDS" in problems["systemd"]) == ([], True)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda place: place.symlink_to("/dev/zero")])
def test_what_is_no_file_of_systemd_is_told(tmp_path, make):
    asked = systemd(tmp_path, "")
    place = tmp_path / "run/systemd/shutdown/scheduled"
    place.unlink()
    make(place)
    assert "scheduled" in told("systemd", asked)[1]["systemd"]


def test_without_a_scheduled_shutdown_nothing_is_said(tmp_path):
    assert told("systemd", Surroundings({}, root=str(tmp_path))) == ([], {})


def documents(found, header=""):
    """A metadata service that has these documents for who sends a header."""

    def answer(request):
        if header and header.partition(": ")[2] != request.headers.get(header.partition(":")[0]):
            return 403, {}, b"no header"
        body = found.get(f"{request.command} {request.path}", found.get(request.path))
        if body is None:
            return 404, {}, b""
        return 200, {"Content-Length": str(len(body))}, body

    return answer


SPOT = "/latest/meta-data/spot/instance-action"
EVENTS = "/latest/meta-data/events/maintenance/scheduled"
TOKEN = {"PUT /latest/api/token": b"t0ken"}
PREEMPTED, MAINTENANCE, UPCOMING = (
    f"/computeMetadata/v1/instance/{name}"
    for name in ("preempted", "maintenance-event", "upcoming-maintenance?alt=json")
)
AZURE = "/metadata/scheduledevents?api-version=2020-07-01"
EVENT = {"EventId": "e1", "EventType": "Preempt", "EventStatus": "Scheduled",
         "NotBefore": "Tue, 17 Nov 2026 23:06:40 GMT"}  # fmt: skip


def azure(*events):
    return {AZURE: json.dumps({"DocumentIncarnation": 1, "Events": events}).encode()}


# What a service has, and the moments that it tells.
# fmt: off
CLOUDS = {
    "aws, nothing":      ("aws", TOKEN, []),
    "aws, taken back":   ("aws", {**TOKEN, SPOT: b'{"action": "terminate", "time": "2026-11-18T15:06:40Z"}'}, [NOW + 4 * 3600]),
    "aws, both":         ("aws", {**TOKEN, SPOT: b'{"action": "stop", "time": "2026-11-18T15:06:40Z"}',
                                  EVENTS: b'[{"NotBefore": "18 Nov 2026 12:06:40 GMT", "Code": "system-reboot", "State": "active"}]'}, [NOW + 3600]),
    "aws, completed":    ("aws", {**TOKEN, EVENTS: b'[{"NotBefore": "18 Nov 2026 12:06:40 GMT", "Code": "x", "State": "completed"}]'}, []),
    "aws, version 1":    ("aws", {SPOT: b'{"action": "terminate", "time": "2026-11-18T15:06:40Z"}'}, [NOW + 4 * 3600]),
    "gce, nothing":      ("gce", {PREEMPTED: b"FALSE", MAINTENANCE: b"NONE"}, []),
    "gce, preempted":    ("gce", {PREEMPTED: b"TRUE", MAINTENANCE: b"NONE"}, [NOW + 30]),
    "gce, migrates":     ("gce", {PREEMPTED: b"FALSE", MAINTENANCE: b"MIGRATE_ON_HOST_MAINTENANCE"}, []),
    "gce, terminates":   ("gce", {MAINTENANCE: b"TERMINATE_ON_HOST_MAINTENANCE"}, [NOW + 30]),
    "gce, terminates later": ("gce", {MAINTENANCE: b"TERMINATE_ON_HOST_MAINTENANCE", UPCOMING: b'{"window_start_time": "2026-11-18T12:06:40+00:00"}'}, [NOW + 3600]),
    "azure, nothing":    ("azure", azure(), []),
    "azure, preempt":    ("azure", azure({**EVENT, "NotBefore": "Wed, 18 Nov 2026 12:06:40 GMT"}), [NOW + 3600]),
    "azure, has begun":  ("azure", azure({**EVENT, "EventStatus": "Started", "NotBefore": ""}), [NOW]),
    "azure, a freeze":   ("azure", azure({**EVENT, "EventType": "Freeze"}), []),
    "azure, two":        ("azure", azure({**EVENT, "NotBefore": "Wed, 18 Nov 2026 14:06:40 GMT"}, {**EVENT, "EventType": "Reboot", "NotBefore": "Wed, 18 Nov 2026 12:06:40 GMT"}), [NOW + 3600]),
}
HEADERS = {"aws": "", "gce": "Metadata-Flavor: Google", "azure": "Metadata: true"}
# fmt: on


@pytest.mark.parametrize("case", CLOUDS)
def test_what_the_metadata_of_a_cloud_says(case):
    name, found, moments = CLOUDS[case]
    with serving(documents(found, HEADERS[name])) as (url, _):
        notices, problems = told(name, Surroundings({}, url=url, seconds=HANG))
    assert problems == {}
    assert [(each.key, each.moment, each.source) for each in notices] == [
        (MACHINE, moment, name) for moment in moments
    ]


def test_aws_is_asked_with_the_token_that_it_gave():
    seen = []

    def answer(request):
        seen.append((request.command, request.headers.get("X-aws-ec2-metadata-token")))
        return documents(TOKEN)(request)

    with serving(answer) as (url, _):
        told("aws", Surroundings({}, url=url, seconds=HANG))
    assert seen == [("PUT", None), ("GET", "t0ken"), ("GET", "t0ken")]


@pytest.mark.parametrize("status", [401, 403, 405])
def test_aws_that_gives_no_token_is_asked_without_one(status):
    has = documents({SPOT: json.dumps(GOOD).encode()})

    def answer(request, has=has):
        return (status, {}, b"") if request.command == "PUT" else has(request)

    with serving(answer) as (url, _):
        notices, problems = told("aws", Surroundings({}, url=url, seconds=HANG))
    assert ([each.moment for each in notices], problems) == ([NOW + 4 * 3600], {})
    with serving(lambda request: (status, {}, b"")) as (url, _):
        notices, problems = told("aws", Surroundings({}, url=url, seconds=HANG))
    assert (notices, problems["aws"].count(f"status {status}")) == ([], 3)


GOOD = {"action": "terminate", "time": "2026-11-18T15:06:40Z"}
BAD = object()


# What one part of a service says does not depend on the others.
@pytest.mark.parametrize(
    ("name", "found", "moments", "said"),
    [
        ("aws", {**TOKEN, SPOT: json.dumps(GOOD).encode(), EVENTS: BAD}, [NOW + 4 * 3600], "500"),
        ("aws", {**TOKEN, SPOT: BAD,
                 EVENTS: b'[{"NotBefore": "18 Nov 2026 12:06:40 GMT", "Code": "x", "State": "active"}]'},
         [NOW + 3600], "500"),
        ("aws", {**TOKEN, EVENTS: b'[7, {"NotBefore": "bad", "State": "active"}, {"NotBefore": '
                 b'"18 Nov 2026 12:06:40 GMT", "Code": "x", "State": "active"}]'},
         [NOW + 3600], "no object of JSON; 'bad'"),
        ("azure", azure({**EVENT, "NotBefore": "bad"},
                        {**EVENT, "NotBefore": "Wed, 18 Nov 2026 12:06:40 GMT"}),
         [NOW + 3600], "'bad'"),
        ("azure", {AZURE: b'{"Events": "x"}'}, [], "no list of events"),
        ("azure", {AZURE: b"[]"}, [], "no object of JSON"),
        ("gce", {PREEMPTED: b"TRUE", MAINTENANCE: BAD}, [NOW + 30], "500"),
        ("gce", {PREEMPTED: b"perhaps", MAINTENANCE: b"TERMINATE_X"}, [NOW + 30], "'perhaps'"),
        ("gce", {PREEMPTED: b"FALSE", MAINTENANCE: b"?"}, [], "no event of maintenance"),
    ],
)  # fmt: skip
def test_what_fails_takes_nothing_away_from_what_is_said(name, found, moments, said):
    def answer(request):
        if found.get(request.path) is BAD:
            return 500, {}, b""
        return documents(found, HEADERS[name])(request)

    with serving(answer) as (url, _):
        notices, problems = told(name, Surroundings({}, url=url, seconds=HANG))
    assert [each.moment for each in notices] == moments
    assert said in problems[name]


OWN = "/metadata/instance/compute/name?api-version=2020-07-01&format=text"


@pytest.mark.parametrize(
    ("concerned", "own", "moments"),
    [
        (["other"], b"vm_1", []), (["other", "VM_1"], b"vm_1\n", [NOW + 3600]),
        ([], b"vm_1", [NOW + 3600]), (None, b"vm_1", [NOW + 3600]),
        (["other"], BAD, [NOW + 3600]), ("vm", b"vm_1", [NOW + 3600]),
    ],
)  # fmt: skip
def test_an_event_of_azure_is_of_the_machines_that_it_names(concerned, own, moments):
    event = {**EVENT, "NotBefore": "Wed, 18 Nov 2026 12:06:40 GMT", "Resources": concerned}
    found = {**azure(event), **({} if own is BAD else {OWN: own})}

    def answer(request):
        return (500, {}, b"") if request.path == OWN and own is BAD else documents(found)(request)

    with serving(answer) as (url, _):
        notices, problems = told("azure", Surroundings({}, url=url, seconds=HANG))
    assert [each.moment for each in notices] == moments
    assert bool(problems) == (own is BAD)


@pytest.mark.parametrize(
    ("name", "found", "seconds"),
    [
        ("gce", {PREEMPTED: b"TRUE"}, 30), ("gce", {MAINTENANCE: b"TERMINATE_ON_HOST"}, 30),
        ("azure", azure({**EVENT, "EventStatus": "Started"}), 0),
    ],
)  # fmt: skip
def test_an_end_that_counts_from_now_stays_where_it_was_first_seen(name, found, seconds):
    with serving(documents(found, HEADERS[name])) as (url, _):
        watch = Watch((name,), Surroundings({}, url=url, seconds=HANG))
        changes = [watch.look(NOW + after).changes for after in (0, 1, 40)]
    assert [len(each) for each in changes] == [1, 0, 0]
    assert watch.end.moment == NOW + seconds


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        (SPOT, b"<html>", "is no JSON"),
        (SPOT, b'{"time": "soon"}', "'soon'"),
        (SPOT, b'{"action": "stop"}', "a time"),
        (SPOT, b"[" * 100_000, "is no JSON"),
        (EVENTS, b'[{"State": "active", "NotBefore": 7}]', "a time"),
    ],
)
def test_what_a_service_says_wrongly_is_a_problem(path, body, said):
    with serving(documents({**TOKEN, path: body})) as (url, _):
        notices, problems = told("aws", Surroundings({}, url=url, seconds=HANG))
    assert notices == []
    assert said in problems["aws"]


def test_a_service_that_leads_elsewhere_is_not_followed():
    with serving(lambda request: (302, {"Location": "http://127.0.0.1:1/"}, b"")) as (url, _):
        notices, problems = told("gce", Surroundings({}, url=url, seconds=HANG))
    assert (notices, "it leads elsewhere" in problems["gce"]) == ([], True)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-11-18T11:06:40Z", NOW), ("2026-11-18T12:06:40+01:00", NOW), (str(NOW), NOW),
        ("Wed, 18 Nov 2026 11:06:40 GMT", NOW), ("18 Nov 2026 11:06:40 GMT", NOW),
    ],
)  # fmt: skip
def test_moments_of_services(text, seconds):
    assert clouds.moment(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2026-11-18T11:06:40",
        "99 Foo 2026 11:06:40",
        None,
        7,
        "18 Nov 2026 11:06:40 +99999999999999999999",
    ],
)
def test_what_is_no_moment(text):
    with pytest.raises(InvalidValue):
        clouds.moment(text)


def pod(root, tolerations=(), deleted=None):
    account = root / "var/run/secrets/kubernetes.io/serviceaccount"
    account.mkdir(parents=True)
    (account / "namespace").write_text("physics\n")
    (account / "token").write_text("secret\n")
    metadata = {"deletionTimestamp": deleted} if deleted else {}
    spec = {"nodeName": "n1", "tolerations": list(tolerations)}
    return json.dumps({"metadata": metadata, "spec": spec}).encode()


def api(a_pod, *taints, **more):
    node = json.dumps({"spec": {"taints": [*taints], **more}}).encode()
    found = {"/api/v1/namespaces/physics/pods/p-1": a_pod, "/api/v1/nodes/n1": node}
    return documents(found, "Authorization: Bearer secret")


TAINT = {"key": "maintenance", "effect": "NoExecute", "timeAdded": "2026-11-18T11:06:40Z"}
LEFT = {"key": "maintenance", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
# fmt: off
TAINTS = [
    ([], [TAINT], [NOW]),
    ([LEFT], [TAINT], [NOW + 300]),
    ([LEFT, {**LEFT, "tolerationSeconds": 60}], [TAINT], [NOW + 60]),
    ([{**LEFT, "tolerationSeconds": 300.0}], [TAINT], [NOW + 300]),
    ([{**LEFT, "tolerationSeconds": -1}], [TAINT], [NOW]),
    ([{**LEFT, "tolerationSeconds": None}], [TAINT], []),
    ([{"operator": "Exists"}], [TAINT], []),
    ([{**LEFT, "key": "other"}], [TAINT], [NOW]),
    ([{**LEFT, "effect": "NoSchedule"}], [TAINT], [NOW]),
    ([{"key": "maintenance", "value": "yes"}], [{**TAINT, "value": "yes"}], []),
    ([{"key": "maintenance", "value": "yes"}], [{**TAINT, "value": "no"}], [NOW]),
    ([], [{**TAINT, "effect": "NoSchedule"}], []),
    ([], [], []),
]
# fmt: on


@pytest.mark.parametrize(("tolerations", "taints", "moments"), TAINTS)
def test_a_taint_of_its_node_evicts_a_pod_that_does_not_tolerate_it(
    tmp_path, tolerations, taints, moments
):
    with serving(api(pod(tmp_path, tolerations), *taints)) as (url, _):
        asked = Surroundings({"POD_NAME": "p-1"}, url=url, root=str(tmp_path), seconds=HANG)
        notices, problems = told("kubernetes", asked)
    assert problems == {}
    assert [(each.key, each.moment) for each in notices] == [(MACHINE, each) for each in moments]


def test_a_pod_is_known_by_a_file_of_the_downward_API(tmp_path):
    (tmp_path / "etc/podinfo").mkdir(parents=True)
    (tmp_path / "etc/podinfo/pod_name").write_text("p-1")
    with serving(api(pod(tmp_path, []), TAINT)) as (url, _):
        asked = Surroundings({"HOSTNAME": "other"}, url=url, root=str(tmp_path), seconds=HANG)
        notices, problems = told("kubernetes", asked)
    assert ([each.key for each in notices], problems) == ([MACHINE], {})


CORDONED = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("taint", "since"),
    [(CORDONED, NOW + 7), ({**CORDONED, "timeAdded": "2026-11-18T11:06:40Z"}, NOW)],
)
def test_a_node_that_is_cordoned_takes_no_new_jobs_and_ends_none(tmp_path, taint, since):
    with serving(api(pod(tmp_path), taint, unschedulable=True)) as (url, _):
        asked = Surroundings({"POD_NAME": "p-1"}, url=url, root=str(tmp_path), seconds=HANG)
        found, problems = told("kubernetes", asked, NOW + 7)
    assert problems == {}
    assert [each[:4] for each in found] == [
        (DRAINING, since, "kubernetes", "node n1 takes no new jobs")
    ]


@pytest.mark.parametrize(
    ("taints", "problem"),
    [
        ([{**CORDONED, "timeAdded": "soon"}], "soon"),
        ([{**CORDONED, "timeAdded": {"a": 1}}], "{'a': 1}"),
        ([{**CORDONED, "timeAdded": "0001-01-01T00:00:00Z"}], "0001"),  # the zero of the API
        ([7, CORDONED], "an object among taints"),
        ("none", "a list of taints"),
        (None, ""),
    ],
)
def test_a_cordon_is_told_whatever_else_is_wrong_at_the_node(tmp_path, taints, problem):
    with serving(api(pod(tmp_path), unschedulable=True, taints=taints)) as (url, _):
        asked = Surroundings({"POD_NAME": "p-1"}, url=url, root=str(tmp_path), seconds=HANG)
        found, problems = told("kubernetes", asked, NOW + 7)
    assert [each[:2] for each in found] == [(DRAINING, NOW + 7)]
    assert problem in problems.get("kubernetes", "")
    assert bool(problem) == bool(problems)


def test_a_pod_that_may_not_read_itself_is_told_that_its_node_is_cordoned(tmp_path):
    whole = api(pod(tmp_path), CORDONED, unschedulable=True)

    def answer(request):
        return (403, {}, b"") if "/pods/" in request.path else whole(request)

    with serving(answer) as (url, _):
        asked = Surroundings({"POD_NAME": "p-1"}, "n1", url, str(tmp_path), 60)
        found, problems = told("kubernetes", asked, NOW)
    assert [each[:2] for each in found] == [(DRAINING, NOW)]
    assert "403" in problems["kubernetes"]


def test_a_pod_that_is_deleted_has_its_grace_period(tmp_path):
    with serving(api(pod(tmp_path, deleted="2026-11-18T11:07:10Z"))) as (url, _):
        asked = Surroundings({"HOSTNAME": "p-1"}, url=url, root=str(tmp_path), seconds=HANG)
        assert told("kubernetes", asked) == (
            [Notice(JOB, NOW + 30, "kubernetes", "pod p-1 is deleted")], {}
        )  # fmt: skip


def test_what_a_pod_may_not_read_is_a_problem_without_its_token(tmp_path):
    pod(tmp_path)
    with serving(lambda request: (403, {}, b"forbidden")) as (url, _):
        asked = Surroundings({"POD_NAME": "p-1"}, url=url, root=str(tmp_path), seconds=HANG)
        notices, problems = told("kubernetes", asked)
    assert (notices, "403" in problems["kubernetes"]) == ([], True)
    assert "secret" not in problems["kubernetes"]


def test_a_taint_without_its_time_counts_from_when_it_was_first_seen(tmp_path):
    taint = {name: value for name, value in TAINT.items() if name != "timeAdded"}
    with serving(api(pod(tmp_path, [{**LEFT, "tolerationSeconds": 4}]), taint)) as (url, _):
        asked = Surroundings({"POD_NAME": "p-1"}, url=url, root=str(tmp_path), seconds=HANG)
        watch = Watch(("kubernetes",), asked)
        changes = [watch.look(NOW + after).changes for after in (0, 1, 2)]
    assert [len(each) for each in changes] == [1, 0, 0]
    assert watch.end.moment == NOW + 4


def test_a_pod_that_may_not_read_its_node_is_told_its_own_deletion(tmp_path):
    whole = api(pod(tmp_path, deleted="2026-11-18T11:07:10Z"))

    def answer(request):
        return (403, {}, b"") if "/nodes/" in request.path else whole(request)

    with serving(answer) as (url, _):
        asked = Surroundings({"POD_NAME": "p-1"}, url=url, root=str(tmp_path), seconds=HANG)
        notices, problems = told("kubernetes", asked)
    assert [each.moment for each in notices] == [NOW + 30]
    assert "403" in problems["kubernetes"]


def test_a_pod_that_may_not_read_itself_is_told_the_taints_of_the_node_that_is_named(tmp_path):
    whole = api(pod(tmp_path), TAINT)

    def answer(request):
        return (403, {}, b"") if "/pods/" in request.path else whole(request)

    with serving(answer) as (url, _):
        asked = Surroundings({"POD_NAME": "p-1"}, "n1", url, str(tmp_path), 60)
        notices, problems = told("kubernetes", asked)
    assert notices == []  # it may tolerate them
    assert "403" in problems["kubernetes"]
    assert "node n1 has the taint maintenance:NoExecute" in problems["kubernetes"]


# What a lying API says of tolerations, taints and the node of a pod, and what is told of it.
# fmt: off
LIES = {
    "taints":             ({}, {"spec": {"taints": 5}}, [], "a list of taints"),
    "a taint":            ({}, {"spec": {"taints": [5, TAINT]}}, [NOW], "an object among taints"),
    "tolerations":        ({"tolerations": 5}, {"spec": {"taints": [TAINT]}}, [], "a list of tolerations"),
    "a toleration":       ({"tolerations": ["x"]}, {"spec": {"taints": [TAINT]}}, [], "an object among taints and tolerations"),
    "no node":            ({"nodeName": None}, {"spec": {"taints": [TAINT]}}, [], "the node of a pod"),
    "a node":             ({"nodeName": 5}, {"spec": {"taints": [TAINT]}}, [], "the node of a pod"),
    "a time":             ({}, {"spec": {"taints": [{**TAINT, "timeAdded": 10**30}]}}, [], "no moment"),
    "seconds":            ({"tolerations": [{**LEFT, "tolerationSeconds": "300"}]}, {"spec": {"taints": [TAINT]}}, [], "a whole number of seconds"),
    "too many seconds":   ({"tolerations": [{**LEFT, "tolerationSeconds": 10**400}]}, {"spec": {"taints": [TAINT]}}, [], "64 bits"),
    "seconds and a half": ({"tolerations": [{**LEFT, "tolerationSeconds": 1.5}]}, {"spec": {"taints": [TAINT]}}, [], "a whole number of seconds"),
    "true":               ({"tolerations": [{**LEFT, "tolerationSeconds": True}]}, {"spec": {"taints": [TAINT]}}, [], "a whole number of seconds"),
    "infinite":           ({"tolerations": [{**LEFT, "tolerationSeconds": float("inf")}]}, {"spec": {"taints": [TAINT]}}, [], "a whole number of seconds"),
}
# fmt: on


@pytest.mark.parametrize("case", LIES)
def test_what_an_api_says_wrongly_is_told_and_other_sources_go_on(tmp_path, case):
    spec, node, moments, said = LIES[case]
    whole = json.loads(pod(tmp_path))
    whole["spec"].update(spec)
    found = {"/api/v1/namespaces/physics/pods/p-1": json.dumps(whole).encode(),
             "/api/v1/nodes/n1": json.dumps(node).encode()}  # fmt: skip
    job = tmp_path / "jf"
    job.mkdir()
    write({"shutdowntime_job": NOW + 7}, job)
    with serving(documents(found)) as (url, _):
        environment = {"POD_NAME": "p-1", "JOBFEATURES": str(job)}
        asked = Surroundings(environment, url=url, root=str(tmp_path), seconds=HANG)
        seen = Watch(("kubernetes", "features"), asked)
        seen.look(NOW)
    assert [each.moment for each in seen.said.get("kubernetes", {}).values()] == moments
    assert said in seen.problems["kubernetes"]
    assert seen.said["features"][JOB].moment == NOW + 7


def test_whatever_a_source_raises_costs_that_source_only(tmp_path, monkeypatch):
    def broken(asked, now):
        yield Notice(MACHINE, NOW + 9, "gce", "preempted")
        raise RuntimeError("no source does this")

    monkeypatch.setattr(clouds, "gce", broken)
    (tmp_path / "jf").mkdir()
    write({"shutdowntime_job": NOW + 7}, tmp_path / "jf")
    seen = Watch(("gce", "features"), Surroundings({"JOBFEATURES": str(tmp_path / "jf")}))
    seen.look(NOW)
    assert seen.problems["gce"] == "RuntimeError: no source does this"
    assert {key: each.moment for key, each in seen.standing.items()} == {
        MACHINE: NOW + 9, JOB: NOW + 7
    }  # fmt: skip
    # It did not say all, so that it calls nothing off that it announced before.
    assert (seen.by_source(MACHINE)["gce"], "gce" in seen.by_source(JOB)) == (NOW + 9, False)


OWN_NAME = "/metadata/instance/compute/name?api-version=2020-07-01&format=text"


@pytest.mark.parametrize("name", [b"<html>login</html>", b"", b"please log in", b'{"error": 5}'])
def test_what_is_no_name_of_a_machine_of_azure_takes_away_no_event(name):
    found = {**azure({**EVENT, "Resources": ["vm"]}), OWN_NAME: name}
    with serving(documents(found, HEADERS["azure"])) as (url, _):
        notices, problems = told("azure", Surroundings({}, url=url, seconds=HANG))
    assert [each.key for each in notices] == [MACHINE]
    assert "is no name of a machine" in problems["azure"]


def test_an_event_of_azure_that_is_none_takes_away_no_other():
    ended = {**EVENT, "EventId": "e2", "EventStatus": "Completed", "NotBefore": ""}
    later = {**EVENT, "NotBefore": "Wed, 18 Nov 2026 12:06:40 GMT"}
    with serving(documents(azure(5, ended, later), HEADERS["azure"])) as (url, _):
        notices, problems = told("azure", Surroundings({}, url=url, seconds=HANG))
    assert [each.moment for each in notices] == [NOW + 3600]
    assert "no object of JSON" in problems["azure"]
    assert "Preempt: e2 is neither Scheduled nor Started but Completed" in problems["azure"]


@pytest.mark.parametrize("token", ["t\u20acken", "a\nb", "\u00e9"])
def test_what_is_no_token_of_aws_is_told_and_not_sent(token):
    found = {"PUT /latest/api/token": token.encode(), SPOT: b"{}"}
    with serving(documents(found)) as (url, _):
        problem = told("aws", Surroundings({}, url=url, seconds=HANG))[1]["aws"]
    assert "what it says is no token" in problem


@pytest.mark.parametrize("body", [b"[]", b'{"metadata": 7, "spec": {}}', b"{}", b"7"])
def test_what_is_no_pod_is_told(tmp_path, body):
    pod(tmp_path)
    with serving(lambda request: (200, {"Content-Length": str(len(body))}, body)) as (url, _):
        asked = Surroundings({"POD_NAME": "p-1"}, url=url, root=str(tmp_path), seconds=HANG)
        assert "no object with" in told("kubernetes", asked)[1]["kubernetes"]


def test_a_namespace_may_stand_in_a_variable(tmp_path):
    body = pod(tmp_path, deleted="2026-11-18T11:07:10Z")
    (tmp_path / "var/run/secrets/kubernetes.io/serviceaccount/namespace").unlink()
    with serving(api(body)) as (url, _):
        asked = Surroundings({"POD_NAME": "p-1"}, url=url, root=str(tmp_path), seconds=HANG)
        assert "set POD_NAMESPACE" in told("kubernetes", asked)[1]["kubernetes"]
        named = Surroundings(
            {"POD_NAME": "p-1", "POD_NAMESPACE": "physics"},
            url=url,
            root=str(tmp_path),
            seconds=HANG,
        )
        assert len(told("kubernetes", named)[0]) == 1


@pytest.mark.parametrize("name", ["", "../nodes", "P", "a b", "x" * 300])
def test_a_pod_of_no_name_is_not_asked_for(tmp_path, name):
    pod(tmp_path)
    asked = Surroundings({"POD_NAME": name}, url="http://127.0.0.1:1", root=str(tmp_path))
    assert "the name of a pod" in told("kubernetes", asked)[1]["kubernetes"]


@pytest.fixture
def programs(safe_path):
    """Programs that print what is said to them, found before all others."""
    (safe_path / "bin").mkdir()

    def make(**texts):
        for name, text in texts.items():
            (safe_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
            (safe_path / "bin" / name).chmod(0o755)
        return {"PATH": f"{safe_path}/bin"}

    return make


RESERVED = f"cat {DATA}/batch/scontrol-reservations.txt"
NOTHING = "echo No reservations in the system"
NODE = (DATA / "batch/scontrol-node-drained.txt").read_text()


OPEN = """\
PrivateData             = none
MCSParameters           = (null)
MCSPlugin               = mcs/none
OverTimeLimit           = 0 min
"""


PARTITIONS = "PartitionName=main Nodes=n1 OverTimeLimit=NONE State=UP\n"


def slurm(
    programs, job="", *, node="", jobs="", reserved=NOTHING, own="7", config=OPEN, more=PARTITIONS
):
    """A Slurm whose ``squeue`` prints ``job`` of one, and ``jobs`` of a node: of four words, those
    of the partition main that are not preempted.
    """
    at = Path(programs()["PATH"])
    rows = [line if len(line.split()) != 4 else f"{line} N/A main" for line in jobs.splitlines()]
    said = (("node", node or NODE), ("job", job), ("jobs", "".join(f"{row}\n" for row in rows)),
            ("config", config), ("partition", more))  # fmt: skip
    for name, text in said:
        (at / f"said-{name}").write_text(text)
    made = programs(
        scontrol=f'case "$*" in *node*) cat {at}/said-node;; *config*) cat {at}/said-config;;'
        f" *partition*) cat {at}/said-partition;;"
        f" *) {reserved};; esac",
        squeue=f'case "$*" in *nodelist*) cat {at}/said-jobs;; *) cat {at}/said-job;; esac',
    )
    return Surroundings({**made, "SLURM_JOB_ID": own}, "n1", seconds=HANG)


def idle(state="IDLE"):
    """The node as it is when nobody drains it."""
    return NODE.partition("   Reason=")[0].replace("IDLE+DRAIN", state)


def test_slurm_tells_of_maintenance_and_of_the_end_of_the_job(programs):
    asked = slurm(programs, f"7 RUNNING {NOW + 60} N/A\n", node=idle(), reserved=RESERVED)
    shown = (DATA / "batch/scontrol-reservations.txt").read_text()
    assert "MAINT" in shown
    notices, problems = told("slurm", asked, now=1)
    assert problems == {}
    assert {each.key for each in notices} == {MACHINE, JOB}
    assert {each.moment for each in notices if each.key == JOB} == {NOW + 60}


@pytest.mark.parametrize("end", ["N/A", "NONE", ""])
def test_a_job_without_an_end_has_none(programs, end):
    row = f"7 RUNNING {end} N/A\n" if end else ""
    assert told("slurm", slurm(programs, row, node=idle())) == ([], {})


@pytest.mark.parametrize(
    ("rows", "notices", "problem"),
    [
        # The other tasks of an array, or components, stand before or behind the leader.
        (["9 RUNNING N/A N/A", f"7 RUNNING {NOW + 60} N/A"], [(NOW + 60, "the end of job 7")], ""),
        ([f"7 RUNNING {NOW + 60} N/A", f"8 RUNNING {NOW + 90} N/A"],
         [(NOW + 60, "the end of job 7")], ""),
        ([f"7 RUNNING {NOW + 20} {NOW}"], [(NOW + 20, "job 7 is preempted")], ""),
        # What was requeued has the end that its next run would have.
        ([f"7 PENDING {NOW + 7200} N/A"], [], "job 7 does not run any more, and is PENDING"),
        ([f"7 COMPLETING {NOW + 7200} {NOW}"], [], "and is COMPLETING"),
        (["7 COMPLETING N/A N/A"], [], "and is COMPLETING"),
        (["9 RUNNING N/A N/A", "7 RUNNING N/A N/A"], [], ""),
        ([f"8 RUNNING {NOW + 90} N/A"], [], "when job 7 ends"),
        (["7 RUNNING soon N/A"], [], "when job 7 ends: 'soon'"),
        ([f"7 RUNNING {NOW + 60} N/A", f"7 RUNNING {NOW + 90} N/A"], [], "when job 7 ends"),
        (["what"], [], "when job 7 ends: 'what'"),
    ],
)  # fmt: skip
def test_of_all_tasks_and_components_the_own_one_counts(programs, rows, notices, problem):
    asked = slurm(programs, "".join(f"{row}\n" for row in rows), node=idle())
    found, problems = told("slurm", asked)
    assert [(each.moment, each.why) for each in found] == notices
    assert problem in problems.get("slurm", "")
    assert bool(problem) == bool(problems)


# In what a real Slurm 22.05 printed of the node.
SINCE, EMPTY = 1795705411, 1795705410
LIMIT = SINCE + 10**6
WHY = "(disk is = bad [x)"


@pytest.mark.parametrize(
    ("node", "jobs", "ends"),
    [
        (NODE, "", (SINCE, "has drained {}")),
        (NODE.replace(str(EMPTY), str(SINCE + 9)), "", (SINCE + 9, "has drained {}")),
        (NODE, f"7 COMPLETING 1 {SINCE + 5}\n", (SINCE + 5, "drains {}: its last job ends")),
        # It was requeued: that is the end that its next run would have.
        (NODE, f"7 COMPLETING 1 {SINCE + 9999}\n", (SINCE + 50, "drains {}: its last job ends")),
        (NODE.replace("CPUAlloc=0", "CPUAlloc=3"),
         f"7 RUNNING 1 {LIMIT + 60}\n8 RUNNING 2 {LIMIT + 90}\n9 PENDING 1 {LIMIT + 999}\n",
         (LIMIT + 90, "drains {}: its last job ends")),
        # Nobody knows when it ends: one has no limit, or is not shown to who asks.
        (NODE, f"7 RUNNING 1 {LIMIT + 60}\n8 RUNNING 2 N/A\n", None),
        (NODE.replace("CPUAlloc=0", "CPUAlloc=3"), f"7 RUNNING 1 {LIMIT + 60}\n", None),
        (NODE.replace("CPUAlloc=0", "CPUAlloc=3"), "", None),
        # It is put off until somebody resumes it.
        (NODE.replace("CPUAlloc=0", "CPUAlloc=1"),
         f"7 RUNNING 1 {LIMIT + 90}\n8 SUSPENDED 1 {LIMIT + 60}\n", None),
        (NODE, "what is this\n", None),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "state", ["IDLE+DRAIN", "MIXED*+DRAIN+MAINTENANCE", "DOWN+DRAIN", "DRAINED", "IDLE+FAIL"]
)
def test_a_node_of_slurm_that_is_drained(programs, state, node, jobs, ends):
    asked = slurm(programs, node=node.replace("IDLE+DRAIN", state), jobs=jobs)
    found, problems = told("slurm", asked, SINCE + 50)
    assert problems == {}
    expected = [Notice(DRAINING, SINCE, "slurm", f"node n1 takes no new jobs {WHY}")]
    if ends is not None:
        expected.append(Notice(MACHINE, ends[0], "slurm", f"node n1 {ends[1].format(WHY)}"))
    assert found == expected


HIDING = (
    OPEN.replace("none\n", "accounts,jobs\n", 1),
    OPEN.replace("none\n", "something new\n", 1),
    OPEN.replace("mcs/none", "mcs/group").replace("(null)", "enforced,privatedata"),
    "OverTimeLimit = 0 min\n",
)


@pytest.mark.parametrize(
    ("config", "user", "is_told"),
    [
        (OPEN, 7, True),
        (OPEN.replace("none\n", "accounts,users\n", 1), 7, True),
        (OPEN.replace("mcs/none", "mcs/group"), 7, True),
        # A hidden job may share the processors of one that is shown, or be suspended.
        *((config, 7, False) for config in HIDING),
        *((config, 0, True) for config in HIDING),
        *((f"SlurmUser = slurm(7)\n{config}", 7, True) for config in HIDING),
    ],
)
def test_a_drained_node_has_an_end_only_where_no_job_can_be_hidden(
    programs, monkeypatch, config, user, is_told
):
    monkeypatch.setattr("os.geteuid", lambda: user)
    node = NODE.replace("CPUAlloc=0", "CPUAlloc=4")
    asked = slurm(programs, node=node, jobs=f"7 RUNNING 4 {LIMIT + 60}\n", config=config)
    found, problems = told("slurm", asked, SINCE + 50)
    assert problems == {}
    assert [each.moment for each in found if each.key == MACHINE] == [LIMIT + 60] * is_told
    # Who is root in a user namespace only is another user to Slurm.
    monkeypatch.setattr("sssjob.users.is_host", lambda: False)
    ends = [each for each in told("slurm", asked, SINCE + 50)[0] if each.key == MACHINE]
    assert bool(ends) == (is_told and config not in HIDING and "slurm(7)" not in config)


@pytest.mark.parametrize(
    ("usual", "own", "preempted", "minutes"),
    [
        ("0 min", "NONE", "N/A", 0), ("3 min", "NONE", "N/A", 3), ("0 min", "5", "N/A", 5),
        ("3 min", "0", "N/A", 0), ("UNLIMITED", "NONE", "N/A", None), ("3 min", "UNLIMITED", "N/A", None),
        ("UNLIMITED", "UNLIMITED", str(LIMIT), 0), ("", "NONE", "N/A", None),
        # Beyond that nobody knows when it ends.
        ("0 min", "-1", "N/A", None), ("0 min", "", "N/A", None),
    ],
)  # fmt: skip
def test_jobs_that_may_go_on_beyond_their_limit_end_later(programs, usual, own, preempted, minutes):
    asked = slurm(
        programs, node=NODE.replace("CPUAlloc=0", "CPUAlloc=1"),
        jobs=f"7 RUNNING 1 {LIMIT + 60} {preempted} main\n", config=OPEN.replace("0 min", usual),
        more=PARTITIONS.replace("NONE", own),
    )  # fmt: skip
    found = [each.moment for each in told("slurm", asked, SINCE + 50)[0] if each.key == MACHINE]
    assert found == ([] if minutes is None else [LIMIT + 60 + 60 * minutes])
    late = [each for each in told("slurm", asked, LIMIT + 60 + 60 * 9)[0] if each.key == MACHINE]
    assert late == []


@pytest.mark.parametrize("text", ["disk", "disk [x@5] Reason=q", "[x@5]", "a [x@5] Comment=c", "["])
@pytest.mark.parametrize(
    "more", ["", "          b [x@6]\n             Reason=c [x@7]\n          Comment=d\n"]
)
@pytest.mark.parametrize("who", ["root", "a.b@example.org", "4294967294"])
@pytest.mark.parametrize(
    "behind",
    ["", "   Comment=c Reason=fake [u@77]\n   Reason=n [u@78]\nState=IDLE\n   Extra=e [u@9]\n"],
)
def test_what_people_write_of_a_node_says_neither_its_reason_nor_since_when(
    programs, text, more, who, behind
):
    """As a real Slurm 22.05 and 24.11 print it: each further line of a reason has ten blanks."""
    node = f"{idle('IDLE+DRAIN')}   Reason={text} [{who}@{SINCE}]\n{more}{behind}\n"
    found, problems = told("slurm", slurm(programs, node=node), SINCE + 50)
    assert problems == {}
    why = " ".join(f"{text} {more}".split())
    assert found[0] == Notice(DRAINING, SINCE, "slurm", f"node n1 takes no new jobs ({why})")


@pytest.mark.parametrize(
    "behind", ["   Comment=c\n   Reason=n [u@78]\n", "   Extra=\n   Reason=n [u@7]\n"]
)
def test_a_node_without_a_reason_has_none_that_people_write_elsewhere(programs, behind):
    found, problems = told("slurm", slurm(programs, node=idle("IDLE+DRAIN") + behind), SINCE + 50)
    assert problems == {}
    assert found[0][:4] == (DRAINING, SINCE + 50, "slurm", "node n1 takes no new jobs")


def test_options_that_a_user_sets_for_squeue_change_no_notice(programs):
    """Each of them leaves jobs out, or writes them otherwise."""
    asked = slurm(programs, f"7 RUNNING {NOW + 60} N/A\n", node=idle())
    inside = Path(programs()["PATH"]) / "squeue"
    inside.write_text(
        f"#!/bin/sh\n/usr/bin/env | grep -q '^S[A-Z]*_[CFPSU].*=urgent' || {inside}-own \"$@\"\n"
    )
    programs(**{"squeue-own": f"cat {inside.parent}/said-job"})
    names = (
        "SQUEUE_STATES",
        "SQUEUE_PARTITION",
        "SQUEUE_FORMAT2",
        "SQUEUE_USERS",
        "SLURM_CLUSTERS",
    )
    wanted, problems = told("slurm", asked)
    assert (len(wanted), problems) == (1, {})
    for name in names:
        asked.environment[name] = "urgent"
        assert told("slurm", asked) == (wanted, {})


@pytest.mark.parametrize(
    "state", ["IDLE", "MIXED*", "ALLOCATED+MAINTENANCE", "IDLE+NOT_RESPONDING"]
)
def test_a_node_that_takes_jobs_is_not_drained_whatever_people_wrote_of_it(programs, state):
    node = f"{idle(state)}   Reason=State=IDLE+DRAIN CPUAlloc=3 [root@7]\n          State=DRAIN\n"
    assert told("slurm", slurm(programs, node=node)) == ([], {})


@pytest.mark.parametrize(
    "said", ["NodeName=n2 State=IDLE\n", "what\n", "NodeName=n1 State=\n", " "]
)
def test_a_node_whose_state_is_not_told_is_a_problem(programs, said):
    found, problems = told("slurm", slurm(programs, node=said))
    assert (found, problems) == ([], {"slurm": "scontrol does not say what state node n1 has"})


@pytest.mark.parametrize("node", ["n[1-2]", "n1,n2", "-a"])
def test_a_node_that_is_no_single_one_has_no_state(programs, node):
    found, problems = told("slurm", replace(slurm(programs), node=node))
    assert found == []
    assert f"{node!r} is not the name of one node" in problems["slurm"]


def test_a_drain_that_is_taken_back_is_called_off_and_ends_nobody(programs):
    """A drain counts from when it was seen, where nobody says since when, and is no end."""
    node = NODE.partition(" [root@")[0].replace("CPUAlloc=0", "CPUAlloc=1") + "\n"
    watch = Watch(("slurm",), slurm(programs, node=node, jobs="7 RUNNING 1 N/A\n"))
    assert [each.notice[:3] for each in watch.look(NOW).changes] == [(DRAINING, NOW, "slurm")]
    assert watch.look(NOW + 30).changes == ()
    assert watch.end is None
    slurm(programs, node=idle())
    assert watch.look(NOW + 60).changes == (NoticeChange(DRAINING, None),)


def test_a_node_that_had_drained_and_is_resumed_has_no_shutdown_left(programs, safe_path):
    """Else a job that starts now would find a machine that has been shut down."""
    watch = Watch(("slurm",), slurm(programs))
    place = safe_path / "machine"
    place.mkdir()
    key, seen = place / "shutdowntime", []
    for node, after in ((NODE, 50), (NODE, 60), (idle(), 70), (idle(), 80)):
        slurm(programs, node=node)
        seen.append([each.key for each in watch.look(SINCE + after).changes])
        said = watch.by_source(MACHINE)
        announce_in(place, MACHINE, said, SINCE + after, (), watch.draining())
        seen.append(int(key.read_text()) if key.exists() else None)
    assert seen == [[DRAINING, MACHINE], SINCE, [], SINCE, [DRAINING, MACHINE], None, [], None]


@pytest.mark.parametrize("later", [70, 9000])
@pytest.mark.parametrize("who", ["watch", "prolog", "another"])
def test_what_a_watch_that_has_ended_announced_goes_when_the_drain_is_over(
    programs, root, who, later
):
    """Whoever learns it first; what another source says meanwhile takes nothing away."""
    place = root / "machinefeatures"
    key = place / "shutdowntime"

    def look(node, after):
        watch = Watch(("slurm",), slurm(programs, node=node))
        watch.look(SINCE + after)
        said = watch.by_source(MACHINE)
        announce_in(place, MACHINE, said, SINCE + after, (), watch.draining())

    look(NODE, 50)
    assert int(key.read_text()) == SINCE
    look(NODE, later - 1)
    announce(root, {"aws": None}, SINCE + later)
    assert int(key.read_text()) == SINCE
    moment = SINCE + later + 99
    if who == "another":
        announce(root, {"aws": moment}, SINCE + later)
    if who == "prolog":
        announce(root, {"slurm": None}, SINCE + later)
    else:
        look(idle(), later)
    assert (int(key.read_text()) if key.exists() else None) == (
        moment if who == "another" else None
    )
    announce(root, {"aws": None}, SINCE + later)
    assert not (place / ".announced").exists()


@pytest.fixture
def root(safe_path):
    """The directories of a node, of which a prolog made that of the machine."""
    make_machine(safe_path, {"total_cpu": 8})
    return safe_path


def test_a_maintenance_that_has_come_is_not_called_off_by_a_drain_before_it(programs):
    shown = (DATA / "batch/scontrol-reservations.txt").read_text()
    start = 1795412975
    assert f"StartTime={start}" in shown
    watch = Watch(("slurm",), slurm(programs))
    watch.look(NOW)
    slurm(programs, node=idle())
    assert [each.key for each in watch.look(NOW + 1).changes] == [DRAINING, MACHINE]
    slurm(programs, node=idle(), reserved=RESERVED)
    assert [each.notice.moment for each in watch.look(NOW + 2).changes] == [start]
    slurm(programs, node=idle())
    assert watch.look(start + 1).changes == ()
    assert watch.draining() == ()


def test_where_slurm_does_not_answer_that_is_a_problem(programs):
    notices, problems = told("slurm", Surroundings(programs(scontrol="exit 1"), "n1", seconds=HANG))
    assert notices == []
    assert "slurm does not say when node n1 is taken away" in problems["slurm"]


def test_a_machine_of_condor_that_drains(programs):
    ads = (DATA / "condor/machine.ad").read_text()
    shown = Path(programs(condor_status="")["PATH"]) / "ads"
    shown.write_text("Draining = true\n" + ads)
    environment = programs(condor_status=f"cat {shown}")
    asked = Surroundings(environment, "host.example.org", seconds=HANG)
    drain = (DRAINING, 1, "host.example.org takes no new jobs")
    found = [(each.key, each.moment, each.why) for each in told("condor", asked, now=1)[0]]
    assert [drain, *(each[:2] for each in found[1:])] == [found[0], (MACHINE, 1795184871)]
    shown.write_text(
        f'LastDrainStartTime = {NOW}\nDrainReason = "new  kernel"\n' + shown.read_text()
    )
    drain = Notice(DRAINING, NOW, "condor", f"{drain[2]} (new kernel)")
    assert told("condor", asked, now=1)[0][0] == drain
    shown.write_text("Draining = false\n" + ads)
    assert told("condor", asked, now=1) == ([], {})
    shown.write_text('Name = "slot1@host.example.org"\nDraining = true\n')
    said = told("condor", asked, now=1)[1]["condor"]
    assert "without Machine and State and Activity" in said
    assert (
        "knows no machine"
        in told("condor", Surroundings(programs(condor_status="true"), "h"))[1]["condor"]
    )


@pytest.mark.parametrize(
    ("slot", "job", "name"),
    [
        ('Name = "slot1_1@own"\nMachine = "own.example.org"\n', "", "own.example.org"),
        ('Machine = "own.example.org"\n', 'RemoteHost = "slot1@other"\n', "own.example.org"),
        # a job that a hook fetched
        ("", 'RemoteHost = "slot1_1@own.example.org"\n', "own.example.org"),
        ("", 'RemoteHost = "slot1@second@own"\n', "own"),
        ("", "Cmd = 1\n", os.uname().nodename),
    ],
)
def test_a_job_of_condor_asks_for_the_machine_of_its_ads(programs, safe_path, slot, job, name):
    """What HTCondor calls it need not be the name of the host."""
    (safe_path / "slot").write_text(slot)
    (safe_path / "job").write_text(job)
    ad = 'Name = "slot1@own"\nMachine = "own"\nState = "Claimed"\nActivity = "Busy"'
    environment = programs(condor_status=f"echo $3 > {safe_path}/asked; echo '{ad}'")
    environment |= {
        "_CONDOR_MACHINE_AD": f"{safe_path}/slot", "_CONDOR_JOB_AD": f"{safe_path}/job"
    }  # fmt: skip
    assert told("condor", Surroundings(environment, seconds=HANG)) == ([], {})
    assert f'Machine == "{name}"' in (safe_path / "asked").read_text()
    told("condor", Surroundings(environment, "elsewhere", seconds=HANG))
    assert 'Machine == "elsewhere"' in (safe_path / "asked").read_text()


# What HTCondor 24 showed of a machine with one job, of which MaxJobRetirementTime is 30 and
# MachineMaxVacateTime 20: parent and job's slot, before, at 753 ``condor_drain``, and after.
FREE = "State=Unclaimed Activity=Idle"
WAITS = "State=Drained Activity=Retiring EnteredCurrentActivity=753"
RETIRES = "State=Claimed Activity=Retiring EnteredCurrentActivity=753"
VACATES = "State=Preempting Activity=Vacating EnteredCurrentActivity"


@pytest.mark.parametrize(
    ("expected", "parent", "job", "moments"),
    [
        (782, FREE, "State=Claimed Activity=Busy RetirementTimeRemaining=29", []),
        (782, WAITS, f"{RETIRES} RetirementTimeRemaining=28 MyCurrentTime=754",
         [(MACHINE, 782, "drains"), (JOB, 782, "retires")]),
        # It vacates so early that it is out in time; what HTCondor expects begins to move.
        (802, WAITS, f"{VACATES}=762 MyCurrentTime=782 RetirementTimeRemaining=0",
         [(MACHINE, 782, "drains"), (JOB, 782, "vacates")]),
        # -quick leaves out the retirement, which is still in all that HTCondor expects.
        (1052, WAITS, f"{VACATES}=753 MyCurrentTime=754 RetirementTimeRemaining=298",
         [(MACHINE, 773, "drains"), (JOB, 773, "vacates")]),
        (783, WAITS, "State=Preempting Activity=Killing EnteredCurrentActivity=753",
         [(MACHINE, 753, "drains"), (JOB, 753, "is killed")]),
        # Of a job that does not say when it ends, HTCondor's estimate counts.
        (900, WAITS, RETIRES, [(MACHINE, 900, "drains")]),
        (783, "State=Drained Activity=Idle EnteredCurrentActivity=783", None,
         [(MACHINE, 783, "has drained")]),
        (783, "State=Drained Activity=Idle", None, [(MACHINE, 783, "drains")]),
    ],
)  # fmt: skip
def test_the_stages_of_a_drain(programs, expected, parent, job, moments):
    shown = Path(programs(condor_status="")["PATH"]) / "ads"
    ads = []
    for name, words in (("slot1", parent), ("slot1_1", job)):
        if words is not None:
            lines = [f'Name="{name}@h"', 'Machine="h"', 'MyAddress="a"', "MachineMaxVacateTime=20",
                     f"ExpectedMachineGracefulDrainingCompletion={expected}"]  # fmt: skip
            lines += ["Draining=true"] if parent != FREE else []
            for word in words.split():
                key, _, value = word.partition("=")
                lines.append(f"{key}={value}" if value.isdigit() else f'{key}="{value}"')
            ads.append("\n".join(line.replace("=", " = ", 1) for line in lines))
    shown.write_text("\n\n".join(ads) + "\n\n")
    environment = programs(condor_status=f"cat {shown}") | {"_CONDOR_SLOT": "slot1_1"}
    found, problems = told("condor", Surroundings(environment, "h", seconds=HANG), now=760)
    assert problems == {}
    drains = [each.moment for each in found if each.key == DRAINING]
    assert drains == ([] if parent == FREE else [760])
    found = [each for each in found if each.key != DRAINING]
    assert [(each.key, each.moment) for each in found] == [each[:2] for each in moments]
    assert [each.why.partition(" ")[2] for each in found] == [each[2] for each in moments]


def test_a_job_that_wants_less_time_to_vacate_is_out_earlier(programs, safe_path):
    lines = ('Name = "slot1_1@h"\nMachine = "h"\nState = "Preempting"\nActivity = "Vacating"\n'
             "EnteredCurrentActivity = 1000\nMachineMaxVacateTime = 10 * 60\n")  # fmt: skip
    (safe_path / "ads").write_text(lines)
    (safe_path / "job").write_text("JobMaxVacateTime = 20\n")
    environment = programs(condor_status=f"cat {safe_path}/ads")
    environment |= {"_CONDOR_SLOT": "slot1_1", "_CONDOR_JOB_AD": f"{safe_path}/job"}
    asked = Surroundings(environment, "h", seconds=HANG)
    assert [each.moment for each in told("condor", asked)[0]] == [1020]
    (safe_path / "job").unlink()
    assert [each.moment for each in told("condor", asked)[0]] == [1600]


@pytest.mark.parametrize(
    ("lines", "slot", "moments"),
    [
        ("Activity = \"Retiring\"\nMyCurrentTime = 1000\nRetirementTimeRemaining = 600\n",
         "slot1_1", [(JOB, 1600)]),
        ("ClaimEndTime = 5000\n", "slot1_1", [(JOB, 5000)]),
        ("ClaimEndTime = 5000\n", "slot1_2", []),
        ("ClaimEndTime = 5000\n", None, []),
    ],
)  # fmt: skip
def test_the_end_of_a_slot_is_that_of_the_job_in_it(programs, lines, slot, moments):
    others = (DATA / "condor/machine.ad").read_text().splitlines(keepends=True)
    said = {line.partition(" = ")[0] for line in lines.splitlines()}
    kept = "".join(line for line in others if line.partition(" = ")[0] not in said)
    shown = Path(programs(condor_status="")["PATH"]) / "ads"
    shown.write_text("".join((lines, kept)))
    environment = programs(condor_status=f"cat {shown}")
    environment |= {"_CONDOR_SLOT": slot} if slot else {}
    found = told("condor", Surroundings(environment, "host.example.org", seconds=HANG), now=1)[0]
    assert [(each.key, each.moment) for each in found] == moments


def test_the_features_of_a_job_are_a_source(tmp_path):
    write({"shutdowntime": NOW + 500}, tmp_path / "machine")
    limits = {"shutdowntime_job": NOW + 300, "jobstart_secs": NOW, "wall_limit_secs": 200}
    write(limits, tmp_path / "job")
    environment = {"MACHINEFEATURES": f"{tmp_path}/machine", "JOBFEATURES": f"{tmp_path}/job"}
    found = told("features", Surroundings(environment, root=str(tmp_path)))[0]
    assert [(each.key, each.moment) for each in found] == [(MACHINE, NOW + 500), (JOB, NOW + 200)]


def test_a_shutdown_from_before_the_job_is_a_leftover_for_watch_as_for_left(tmp_path):
    write({"shutdowntime": NOW - 86400}, tmp_path / "machine")
    write({"jobstart_secs": NOW - 600, "wall_limit_secs": 3600}, tmp_path / "job")
    environment = {"MACHINEFEATURES": f"{tmp_path}/machine", "JOBFEATURES": f"{tmp_path}/job"}
    notices, problems = told("features", Surroundings(environment, root=str(tmp_path)))
    assert ([(each.key, each.moment) for each in notices], problems) == ([(JOB, NOW + 3000)], {})


@pytest.mark.parametrize("job", ["/nowhere", "http://127.0.0.1:1/x", "NaN"])
def test_a_directory_of_features_that_cannot_be_read_is_told(tmp_path, job):
    write({"shutdowntime": NOW + 500}, tmp_path / "machine")
    if job == "NaN":
        (tmp_path / "job").mkdir()
        (tmp_path / "job/shutdowntime_job").write_text("NaN\n")
        job = f"{tmp_path}/job"
    environment = {"MACHINEFEATURES": f"{tmp_path}/machine", "JOBFEATURES": job}
    notices, problems = told("features", Surroundings(environment, root=str(tmp_path)))
    assert [each.moment for each in notices] == [NOW + 500]
    assert "$JOBFEATURES" in problems["features"]


def test_clouds_are_asked_only_by_name():
    assert usual({}) == ("features", "systemd")
    assert usual({"KUBERNETES_SERVICE_HOST": "h"}) == ("features", "systemd", "kubernetes")
    assert {"aws", "gce", "azure", "slurm", "condor"} <= set(names())


# One that prints records only is around no job; what it lacks, the registry test tells.
@pytest.mark.parametrize(
    "name", [name for name, row in registry.systems().items() if row.around or row.notices]
)
def test_a_batch_system_that_tells_of_ends_is_asked_in_its_jobs_and_only_there(name):
    row = registry.systems()[name]
    asked = (name,) if row.notices else ()
    assert row.around, "no variable by which its jobs are known: `around` of the system"
    assert usual({row.around: "7"}) == ("features", "systemd", *asked)
    assert usual({row.around: ""}) == ("features", "systemd")
    assert name not in usual({other.around: "7" for other in registry.systems().values()
                              if other is not row})  # fmt: skip


def test_in_a_pod_of_a_batch_job_both_are_asked():
    inside = {"SLURM_JOB_ID": "7", "KUBERNETES_SERVICE_HOST": "h"}
    assert usual(inside) == ("features", "systemd", "slurm", "kubernetes")


def test_what_changes_is_told_once_and_no_answer_calls_nothing_off(tmp_path):
    place = tmp_path / "job"
    write({"shutdowntime_job": NOW + 300}, place)
    asked = Surroundings(
        {"JOBFEATURES": str(place), "MACHINEFEATURES": str(place)}, root=str(tmp_path)
    )
    watch = Watch(("features", "slurm"), asked)
    first, again = watch.look(NOW), watch.look(NOW + 1)
    assert [(each.key, each.notice.moment) for each in first.changes] == [(JOB, NOW + 300)]
    assert [each.partition(":")[0] for each in first.problems] == ["slurm"]
    assert (again.changes, again.problems) == ((), ())
    watch.said["slurm"] = {MACHINE: Notice(MACHINE, NOW + 9, "slurm", "")}
    assert [each.notice.moment for each in watch.look(NOW).changes] == [NOW + 9]
    assert watch.look(NOW).changes == ()  # slurm does not answer
    assert (watch.by_source(MACHINE)["slurm-by-host"], watch.by_source(JOB)["features"]) == (
        NOW + 9, NOW + 300
    )  # fmt: skip
    (place / "shutdowntime_job").unlink()
    assert set(watch.look(NOW).changes) == {NoticeChange(JOB, None)}
    assert (watch.by_source(JOB), watch.end.moment) == ({"features": None}, NOW + 9)


def test_what_has_come_is_not_called_off(tmp_path):
    place = tmp_path / "job"
    write({"shutdowntime_job": NOW + 5}, place)
    watch = Watch(("features",), Surroundings({"JOBFEATURES": str(place)}, root=str(tmp_path)))
    assert len(watch.look(NOW).changes) == 1
    (place / "shutdowntime_job").unlink()
    assert watch.look(NOW + 5).changes == ()
    assert watch.end is None


def test_a_source_that_does_not_answer_has_no_other_one_wait(tmp_path):
    """One that hangs is told once it was given its time; what it says at last counts."""
    place, fifo = tmp_path / "job", tmp_path / "bin/fifo"
    write({"shutdowntime_job": NOW + 300}, place)
    fifo.parent.mkdir()
    os.mkfifo(fifo)
    ad = 'Name = "s@h"\nMachine = "h"\nState = "Claimed"\nActivity = "Busy"\nClaimEndTime = 9\n'
    program = fifo.with_name("condor_status")
    program.write_text(f"#!/bin/sh\nread x < {fifo}\ncat <<'E'\n{ad}E\n")
    program.chmod(0o755)
    environment = {"JOBFEATURES": str(place), "PATH": f"{fifo.parent}:/bin", "_CONDOR_SLOT": "s"}
    watch = Watch(
        ("condor", "features"), Surroundings(environment, "h", root=str(tmp_path), seconds=HANG)
    )

    def looked():
        watch.look(1, patience=0.05)
        return watch.end

    assert until(looked).moment == NOW + 300
    assert ("condor" in watch.problems, watch.answering()) == (False, ())
    fifo.write_text("go\n")
    assert until(lambda: looked().moment == 9)


def heard(watch):
    watch.hear(0.05)
    return watch.end


def test_what_a_source_says_counts_before_it_has_said_all():
    """The service of AWS answers one question, and hangs at the next one."""
    goes_on = threading.Event()
    has = documents({**TOKEN, SPOT: json.dumps(GOOD).encode()})

    def answer(request):
        if request.path == EVENTS:
            goes_on.wait(HANG)
        return has(request)

    with serving(answer) as (url, _):
        watch = Watch(("aws",), Surroundings({}, url=url, seconds=HANG))
        watch.ask(NOW)
        assert until(lambda: heard(watch)).moment == NOW + 4 * 3600
        assert (watch.patience() is None, watch.by_source(JOB)) == (False, {})
        goes_on.set()
        assert until(lambda: heard(watch) and watch.patience() is None)
        assert watch.by_source(JOB) == {"aws": None}


def test_a_server_that_hangs_keeps_back_nothing_of_a_directory_here(tmp_path):
    goes_on = threading.Event()
    write({"shutdowntime_job": NOW + 300}, tmp_path / "job")
    with serving(lambda request: goes_on.wait(HANG) and (404, {}, b"")) as (url, _):
        environment = {"JOBFEATURES": str(tmp_path / "job"), "MACHINEFEATURES": f"{url}/m"}
        asked = Surroundings(environment, root=str(tmp_path), seconds=HANG)
        watch = Watch(("features",), asked)
        watch.ask(NOW)
        assert until(lambda: heard(watch)).moment == NOW + 300
        goes_on.set()


def test_the_questions_of_a_source_share_its_time(monkeypatch):
    moments = [100]  # a thread that an earlier test left may look at it, too
    monkeypatch.setattr("time.monotonic", lambda: moments[-1])
    asked = Surroundings({}, seconds=9, end=109)
    for moment, questions, seconds in ((100, 3, 3), (102, 2, 3.5), (105, 1, 4)):
        moments.append(moment)
        assert asked.share(questions) == seconds
    moments.append(110)
    assert 0 < asked.share() < 1


SAYING = {}  # what each service of a cloud says now, by its name


def saying(name):
    def source(asked, now):
        if SAYING.get(name):
            yield Notice(MACHINE, SAYING[name], name, "")

    return source


# Whoever announces a shutdown, or calls it off: a cloud, a person in the directory; or a watch is
# killed and begins again.
STEPS = st.lists(
    st.tuples(st.sampled_from(["aws", "gce", "person", "killed"]), st.integers(0, 9)), max_size=7
)


@examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS, st.booleans(), st.sampled_from(["same", "same", "apart", "apart", "served"]))
def test_watches_announce_what_stands_and_never_what_they_announced(
    safe_path, steps, at_once, where
):
    """Both announce in the directory that both read, or each in one of its own.

    ``served`` is that the directory, of this machine, is read over HTTP.
    """
    place = Path(tempfile.mkdtemp(dir=safe_path))
    own = {name: place / (name if where == "apart" else "m") for name in ("aws", "gce")}
    for each in {place / "m", *own.values()}:
        write({"total_cpu": 1}, each)
    person = None

    def served(request):
        file = place / "m" / request.path.rpartition("/")[2]
        body = file.read_bytes() if file.is_file() else b""
        return 200 if body else 404, {"Content-Length": str(len(body))}, body

    def begun(name):
        names = ("features", name)
        asked = Surroundings(
            {"MACHINEFEATURES": f"{url}/m" if where == "served" else str(place / "m")},
            root=str(place), announced={MACHINE: str(own[name])}, names=names, seconds=HANG,
        )  # fmt: skip
        return Watch(names, asked)

    def looks():
        for name, watch in watches.items():
            watch.look(NOW)
            announce_in(own[name], MACHINE, watch.by_source(MACHINE), NOW, ("features",))

    def stands():
        return [
            [read(own[name], MACHINE_FEATURES).values.get(MACHINE), watch.end and watch.end.moment]
            for name, watch in watches.items()
        ]

    with pytest.MonkeyPatch.context() as patch, serving(served) as (url, _):
        for name in ("aws", "gce"):
            patch.setattr(clouds, name, saying(name))
        SAYING.clear()
        watches = {name: begun(name) for name in ("aws", "gce")}
        for number, (who, moment) in enumerate(steps):
            # No two say the same moment: whose it is could not be told then.
            at = NOW + 1000 * moment + 10 * number + 5 if moment else None
            if who == "killed":
                name = "aws" if moment % 2 else "gce"
                watches[name] = begun(name)
            elif who == "person":
                person = at
                if at is None:
                    remove((MACHINE,), place / "m")
                else:
                    put({MACHINE: at}, place / "m")
            else:
                SAYING[who] = at
            if at_once:  # else several things happen between two looks
                looks()
        looks()
        for _ in range(2):  # and it stays so
            looks()
            known = {name: [SAYING.get(name), person] for name in watches}
            if where != "apart":
                known = {name: [*SAYING.values(), person] for name in watches}
            least = [min(filter(None, each), default=None) for each in known.values()]
            assert stands() == [[each, each] for each in least]
