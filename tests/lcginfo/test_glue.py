"""GLUE: which entries stand for which queue and VO, what is printed, what is refused."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.lcginfo import answers, config, glue, ldif, lrmsinfo
from sssjob.lcginfo.answers import QueueAnswer
from sssjob.lcginfo.glue import GLUE1, GLUE2
from sssjob.lcginfo.ldif import BadLDIF
from sssjob.lcginfo.site import Site
from sssjob.lcginfo.snapshot import DRAINING, QueuedJob, QueueRules, Snapshot

CE = """\
dn: GlueCEUniqueID=ce.example.org:8443/cream-pbs-{0},mds-vo-name=resource,o=grid
objectClass: GlueCE
GlueCEUniqueID: ce.example.org:8443/cream-pbs-{0}
GlueCEName: {0}
GlueCEAccessControlBaseRule: VO:dteam
GlueForeignKey: GlueClusterUniqueID=ce.example.org

"""
VIEW = """\
dn: GlueVOViewLocalID={1},GlueCEUniqueID=ce.example.org:8443/cream-pbs-{0},o=grid
objectClass: GlueVOView
GlueVOViewLocalID: {1}
GlueChunkKey: GlueCEUniqueID=ce.example.org:8443/cream-pbs-{0}
GlueCEAccessControlBaseRule: {2}

"""
SHARE = """\
dn: GLUE2ShareID={0},GLUE2ServiceID=s,GLUE2GroupID=resource,o=glue
objectClass: GLUE2Share
objectClass: GLUE2ComputingShare
GLUE2ShareID: {0}
GLUE2ComputingShareMappingQueue: {1}

"""
POLICY = """\
dn: GLUE2PolicyID={0}_policy,GLUE2ShareID={0},GLUE2ServiceID=s,GLUE2GroupID=resource,o=glue
objectClass: GLUE2MappingPolicy
GLUE2PolicyID: {0}_policy
GLUE2PolicyUserDomainForeignKey: {1}
GLUE2MappingPolicyShareForeignKey: {0}

"""
ACCESS = """\
dn: GLUE2PolicyID=access,GLUE2EndpointID=e,GLUE2ServiceID=s,GLUE2GroupID=resource,o=glue
objectClass: GLUE2AccessPolicy
GLUE2PolicyID: access
GLUE2PolicyUserDomainForeignKey: nobody

"""
SITE = "dn: mds-vo-name=resource,o=grid\nobjectClass: MDS\n\n"
CLUSTER = "dn: GlueClusterUniqueID=c,mds-vo-name=resource,o=grid\nGlueClusterUniqueID: c\n\n"
STORAGE = """\
dn: GLUE2ShareID=disk,GLUE2ServiceID=s,GLUE2GroupID=resource,o=glue
objectClass: GLUE2StorageShare
GLUE2ShareID: disk

"""


def targets(text, form=GLUE1, rule="last"):
    remarks = []
    found = glue.READERS[form](ldif.read(text.encode()), rule, remarks.append)
    return [(target.queue, target.vo) for target in found], [item.message for item in remarks]


def test_ces_and_views_stand_for_queues_and_vos_in_the_order_of_the_file():
    text = SITE + CE.format("b") + CLUSTER + VIEW.format("b", "x", "VO:x") + CE.format("a")
    assert targets(text) == ([("b", ""), ("b", "x"), ("a", "")], [])


def test_a_view_may_stand_before_its_ce():
    assert targets(VIEW.format("a", "x", "VO:x") + CE.format("a"))[0] == [("a", "x"), ("a", "")]


def test_a_view_has_the_queue_of_its_ce_whatever_the_ce_is_called():
    text = CE.format("a").replace("GlueCEName: a", "GlueCEName: other")
    assert targets(text + VIEW.format("a", "x", "VO:x"))[0] == [("other", ""), ("other", "x")]


# fmt: off
FQAN = "/dteam/Role=admin"
RULES = [
    pytest.param("VO:dteam",                               "dteam", id="VO"),
    pytest.param("vo: dteam",                              "dteam", id="in small letters"),
    pytest.param("VOMS:/dteam/Role=admin",                 FQAN,    id="FQAN"),
    pytest.param("VOMS:/VO=dteam/GROUP=/dteam/ROLE=admin", FQAN,    id="FQAN of old"),
    pytest.param("VOMS:/dteam/ROLE=admin/Capability=NULL", FQAN,    id="FQAN with a capability"),
]
# fmt: on


@pytest.mark.parametrize("rule, vo", RULES)
def test_an_access_rule_names_a_vo_or_an_fqan(rule, vo):
    assert targets(CE.format("q") + VIEW.format("q", "v", rule))[0][1] == ("q", vo)


@pytest.mark.parametrize("rule, vo", [("last", "b"), ("first", "a")])
def test_of_several_rules_the_last_counts_or_the_first_and_a_difference_is_remarked_upon(rule, vo):
    view = VIEW.format("q", "v", "VO:a\nGlueCEAccessControlBaseRule: VO:b")
    found, (remark,) = targets(CE.format("q") + view, rule=rule)
    assert found[1] == ("q", vo)
    assert f"of a, b the {rule} counts, {vo}" in remark


def test_rules_that_agree_are_no_reason_for_a_remark():
    rules = "VOMS:/a/Role=p\nGlueCEAccessControlBaseRule: VOMS:/VO=a/GROUP=/a/ROLE=p"
    assert targets(CE.format("q") + VIEW.format("q", "v", rules))[1] == []


def test_shares_stand_for_the_vo_of_their_mapping_policy():
    text = SHARE.format("s1", "q") + ACCESS + POLICY.format("s2", "b") + SHARE.format("s2", "q")
    found, _ = targets(text + POLICY.format("s1", "a"), GLUE2)
    assert found == [("q", "a"), ("q", "b")]


def test_a_share_without_policy_stands_for_its_queue_and_is_remarked_upon():
    found, (remark,) = targets(SHARE.format("s", "q") + ACCESS, GLUE2)
    assert found == [("q", "")]
    assert "no policy names a VO" in remark


def test_storage_shares_and_their_policies_are_left_alone():
    text = STORAGE + POLICY.format("disk", "a") + SHARE.format("s", "q") + POLICY.format("s", "a")
    assert targets(text, GLUE2) == ([("q", "a")], [])


@pytest.mark.parametrize("form", [GLUE1, GLUE2])
def test_each_schema_reads_its_own_entries_only(form):
    ours = CE.format("q") if form == GLUE1 else SHARE.format("s", "q") + POLICY.format("s", "a")
    others = SHARE.format("s", "x") if form == GLUE1 else CE.format("x")
    assert len(targets(ours + others, form)[0]) == 1


# fmt: off
PARENT = "GlueCEUniqueID=ce.example.org:8443/cream-pbs-q"
MANDATORY = [
    pytest.param(GLUE1, "GlueCEUniqueID",                    "ce.example.org:8443/cream-pbs-q"),
    pytest.param(GLUE1, "GlueCEName",                        "q"),
    pytest.param(GLUE1, "GlueChunkKey",                      PARENT),
    pytest.param(GLUE1, "GlueCEAccessControlBaseRule",       "VO:x"),
    pytest.param(GLUE2, "GLUE2ShareID",                      "s"),
    pytest.param(GLUE2, "GLUE2ComputingShareMappingQueue",   "q"),
    pytest.param(GLUE2, "GLUE2PolicyUserDomainForeignKey",   "x"),
    pytest.param(GLUE2, "GLUE2MappingPolicyShareForeignKey", "s"),
]
# fmt: on
WHOLE = {
    GLUE1: CE.format("q") + VIEW.format("q", "v", "VO:x"),
    GLUE2: SHARE.format("s", "q") + POLICY.format("s", "x"),
}


@pytest.mark.parametrize("form, name, value", MANDATORY)
@pytest.mark.parametrize("instead", ["", "{}: \n"], ids=["absent", "empty"])
def test_a_missing_mandatory_attribute_is_named(form, name, value, instead):
    assert targets(WHOLE[form], form)[0]
    broken = WHOLE[form].replace(f"\n{name}: {value}\n", "\n" + instead.format(name))
    assert broken != WHOLE[form]
    with pytest.raises(BadLDIF, match=rf"^Missing mandatory attribute {name}: line \d+: "):
        targets(broken, form)


FOREIGN = {GLUE1: ("GlueChunkKey", PARENT), GLUE2: ("GLUE2MappingPolicyShareForeignKey", "s")}


@pytest.mark.parametrize(
    "form, wrong",
    [
        pytest.param(GLUE1, "GlueCEUniqueID=gone", id="no such CE"),
        pytest.param(GLUE1, "GlueClusterUniqueID=c", id="not of a CE"),
        pytest.param(GLUE2, "gone", id="no such share"),
    ],
)
def test_a_foreign_key_to_nothing_is_refused(form, wrong):
    name, key = FOREIGN[form]
    broken = WHOLE[form].replace(f"{name}: {key}\n", f"{name}: {wrong}\n")
    with pytest.raises(BadLDIF, match=rf"^Invalid foreign key {wrong}: line \d+: "):
        targets(broken, form)


@pytest.mark.parametrize("rule", ["x", "DN:/O=x", "VO:", "VOMS: ", ":", "VO"])
def test_an_access_rule_of_another_kind_is_refused(rule):
    with pytest.raises(BadLDIF, match=r"^Wrong ACBR definition"):
        targets(CE.format("q") + VIEW.format("q", "v", rule))


def test_numbers_are_printed_in_the_order_of_each_program_below_the_name_as_it_stood():
    entries = list(ldif.read(b"dn: GlueCEUniqueID=a,\n o=grid\nGlueCEUniqueID: a\nGlueCEName: q\n"))
    shares = list(ldif.read(SHARE.format("s", "q").encode()))
    wanted = [*glue.glue1(entries), *glue.glue2(shares)]
    assert glue.pairs(wanted) == [("q", "")]
    assert glue.text(wanted, [QueueAnswer("q", "", 3, 1, 7, 60, 120)]) == (
        "dn: GlueCEUniqueID=a,\n o=grid\n"
        "GlueCEStateWaitingJobs: 1\n"
        "GlueCEStateRunningJobs: 3\n"
        "GlueCEStateTotalJobs: 4\n"
        "GlueCEStateEstimatedResponseTime: 60\n"
        "GlueCEStateWorstResponseTime: 120\n"
        "GlueCEStateFreeJobSlots: 7\n"
        "\n"
        "dn: GLUE2ShareID=s,GLUE2ServiceID=s,GLUE2GroupID=resource,o=glue\n"
        "GLUE2ComputingShareRunningJobs: 3\n"
        "GLUE2ComputingShareWaitingJobs: 1\n"
        "GLUE2ComputingShareTotalJobs: 4\n"
        "GLUE2ComputingShareEstimatedAverageWaitingTime: 60\n"
        "GLUE2ComputingShareEstimatedWorstWaitingTime: 120\n"
        "GLUE2ComputingShareFreeSlots: 7\n"
        "\n"
    )


def test_further_attributes_are_printed_on_request_in_the_schema_that_has_them():
    wanted = [
        *glue.glue1(ldif.read(CE.format("q").encode())),
        *glue.glue2(ldif.read(SHARE.format("s", "q").encode())),
    ]
    rules = QueueRules("q", 7200.0, 600.5, 90, serving=DRAINING)
    rows = [QueueAnswer("q", "", 3, 1, 7, 60, 120, used=12, requested=4, cap=40, rules=rules)]
    plain = glue.text(wanted, rows).splitlines()
    printed = glue.text(wanted, rows, config.FURTHER).splitlines()
    assert [line for line in printed if line not in plain] == [
        "GlueCEStateFreeCPUs: 7",
        "GlueCEStateStatus: Draining",
        "GLUE2ComputingShareUsedSlots: 12",
        "GLUE2ComputingShareRequestedSlots: 4",
        "GLUE2ComputingShareServingState: draining",
        "GLUE2ComputingShareMaxRunningJobs: 40",
        "GLUE2ComputingShareMaxWallTime: 7200",
        "GLUE2ComputingShareDefaultWallTime: 600",
    ]
    unknown = [QueueAnswer("q", "", 0, 0, 0, 0, 0)]
    assert "ServingState" not in glue.text(wanted, unknown, config.FURTHER)


@pytest.mark.parametrize("said", ["", ", 'serving': ''", ", 'serving': None", ", 'serving': 'odd'"])
def test_a_queue_of_which_nobody_says_whether_it_takes_jobs_publishes_no_state(said):
    line = f"queue {{'name': 'q', 'maxrunning': 9{said}}}\n"
    found = lrmsinfo.read(io.BytesIO(f"nactive 1\nnow 0\nschedCycle 5\n{line}".encode()))
    [rules] = found.scheduling.queues
    assert rules.starts
    wanted = [
        *glue.glue1(ldif.read(CE.format("q").encode())),
        *glue.glue2(ldif.read(SHARE.format("s", "q").encode())),
    ]
    printed = glue.text(wanted, [QueueAnswer("q", "", 0, 0, 0, 0, 0, rules=rules)], config.FURTHER)
    assert "GLUE2ComputingShareMaxRunningJobs: 9" in printed
    assert "ServingState" not in printed
    assert "Status" not in printed


MANAGER = """\
dn: GLUE2ManagerID={0},GLUE2ServiceID=s,GLUE2GroupID=resource,o=glue
objectClass: GLUE2Manager
objectClass: {1}
GLUE2ManagerID: {0}

"""


def test_a_manager_has_the_slots_of_the_whole_site():
    entries = MANAGER.format("m", "GLUE2ComputingManager") + MANAGER.format(
        "t", "GLUE2StorageManager"
    )
    wanted = glue.managers(ldif.read(entries.encode()))
    assert glue.pairs(wanted) == []
    jobs = [QueuedJob("q", group, "running", cpucount=slots)
            for group, slots in (("atlas", 3), ("cms", 4), ("staff", 5))]  # fmt: skip
    site = Site(Snapshot((*jobs, jobs[0]._replace(state="queued")), nactive=20))
    printed = glue.text(wanted, [], config.FURTHER, answers.manager(site, {"atlas", "cms"}))
    assert printed.splitlines() == [
        "dn: GLUE2ManagerID=m,GLUE2ServiceID=s,GLUE2GroupID=resource,o=glue",
        "GLUE2ComputingManagerTotalSlots: 20",
        "GLUE2ComputingManagerSlotsUsedByGridJobs: 7",
        "GLUE2ComputingManagerSlotsUsedByLocalJobs: 5",
        "",
    ]
    only = ["GLUE2ComputingManagerTotalSlots"]
    assert "Used" not in glue.text(wanted, [], only, answers.manager(site, ()))


def test_numbers_that_nobody_knows_are_left_out():
    wanted = glue.glue1(ldif.read(CE.format("q").encode()))
    printed = glue.text(wanted, [QueueAnswer("q", "", 0, 0, None, None, None)])
    assert [line.partition(":")[0] for line in printed.splitlines()[1:-1]] == [
        "GlueCEStateWaitingJobs",
        "GlueCEStateRunningJobs",
        "GlueCEStateTotalJobs",
    ]


@given(st.permutations(["a", "b", "c", "d"]), st.sets(st.sampled_from("abcd")))
def test_every_entry_is_answered_once_and_in_order(queues, viewed):
    text = ""
    for queue in queues:
        text += CE.format(queue)
        if queue in viewed:
            text += VIEW.format(queue, "x", "VO:x")
    wanted = glue.glue1(ldif.read(text.encode()))
    rows = [QueueAnswer(queue, vo, 0, 0, 0, 0, 0) for queue, vo in glue.pairs(wanted)]
    printed = list(ldif.read(glue.text(wanted, rows).encode()))
    assert [entry.dn for entry in printed] == [entry.dn for entry in ldif.read(text.encode())]
