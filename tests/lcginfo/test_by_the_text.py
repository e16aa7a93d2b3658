"""What is published of random sites is what the text of lcg-info says, worked out apart from us."""

import random

import lcginfo_oracle
import pytest
from draws import cases

from sssjob.lcginfo import answers, caps, config, ldif, publish

GROUPS = ("atlsgm", "atlas", "aliceprd", "alice", "dteam", "cms", "cmsprd")
VOS = ("atlas", "alice", "/VO=alice/GROUP=/alice/ROLE=production", "/dteam/Role=NULL", "cms")
QUEUES = ("long", "short", "a b", "x,y")
CE = """\
dn: GlueCEUniqueID=ce{0},mds-vo-name=resource,o=grid
GlueCEUniqueID: ce{0}
GlueCEName: {1}
GlueCEAccessControlBaseRule: VO:atlas

"""
VIEW = """\
dn: GlueVOViewLocalID=v{1},GlueCEUniqueID=ce{0},mds-vo-name=resource,
 o=grid
GlueVOViewLocalID: v{1}
GlueChunkKey: GlueCEUniqueID=ce{0}
GlueCEAccessControlBaseRule: {2}

"""
SHARE = """\
dn: GLUE2ShareID=s{0}{1},GLUE2GroupID=resource,o=glue
GLUE2ShareID: s{0}{1}
GLUE2ComputingShareMappingQueue: {2}

"""
POLICY = """\
dn: GLUE2PolicyID=p{0}{1},GLUE2ShareID=s{0}{1},GLUE2GroupID=resource,o=glue
GLUE2PolicyUserDomainForeignKey: {2}
GLUE2MappingPolicyShareForeignKey: s{0}{1}

"""
VOMAP = """\
[Main]
static_ldif_file : {0}/ces
static_glue2_ldif_file_computingshare : {0}/shares
vomap :
   atlsgm : atlas
   aliceprd : /alice/Role=production
   cmsprd:cms
   dteam : /dteam
"""


def jobs(draw, now):
    for number in range(draw.randint(0, 14)):
        state = draw.choice(
            ("running", "queued", "running", "queued", "pending", "done", "unknown")
        )
        job = {"queue": draw.choice(QUEUES[: draw.choice((1, 3, 4))]), "state": state,
               "group": draw.choice(GROUPS), "jobid": f"{number}.host"}  # fmt: skip
        if draw.random() < 0.9:
            job["qtime"] = float(now - draw.randint(0, 4000))
        if state in ("running", "done") and draw.random() < 0.9:
            job["start"] = float(now - draw.randint(-50, 3000))
        if draw.random() < 0.7:
            job["maxwalltime"] = float(draw.randint(0, 6000))
        if draw.random() < 0.4:
            job["cpucount"] = draw.randint(1, 4)
        yield job
    for number in range(draw.choice((0, 0, 0, 19, 25))):
        yield {"queue": "long", "state": "done", "group": "cms", "jobid": f"d{number}",
               "walltime": float(draw.randint(1, 900)), "maxwalltime": 1000.0,
               "qtime": now - 5000.0, "start": now - 4000.0}  # fmt: skip


def lrmsinfo(draw):
    now = draw.choice((1119073982, 5000, 1700000000))
    head = {"nactive": draw.randint(4, 20), "nfree": draw.choice((0, 0, 1, 4)), "now": now,
            "schedCycle": draw.choice((0, 26, 120))}  # fmt: skip
    lines = [f"{name} {value}" for name, value in head.items() if draw.random() < 0.75]
    return "\n".join([*(lines or ["nfree 2"]), *map(repr, jobs(draw, now))])


def static(draw):
    ces, shares = [], []
    for place, queue in enumerate(QUEUES):
        ces.append(CE.format(place, queue))
        for number, vo in enumerate(VOS):
            first = "VO:zzz\nGlueCEAccessControlBaseRule: " if draw.random() < 0.1 else ""
            rule = f"{first}{'VOMS' if vo.startswith('/') else 'VO'}:{vo}"
            ces.append(VIEW.format(place, number, rule))
            shares.append(SHARE.format(place, number, queue))
            if draw.random() < 0.8:
                shares.append(POLICY.format(place, number, vo))
    return "".join(ces), "".join(shares)


def options(draw):
    own = (f"usage_factor: {draw.choice((1, 0.25))}", "count: slots", "default_walltime: 500")
    told = "".join(f"{each}\n" for each in own if draw.random() < 0.3)
    return told + ("[Scheduler]\ncycle_time : 60\n" if draw.random() < 0.5 else "")


@pytest.mark.parametrize("seed", range(cases(20)))
def test_what_is_published_is_what_the_text_says(tmp_path, seed):
    draw = random.Random(seed)
    for _ in range(10):
        printed, (ces, shares) = lrmsinfo(draw), static(draw)
        (tmp_path / "ces").write_text(ces)
        (tmp_path / "shares").write_text(shares)
        some = draw.sample(GROUPS, draw.randint(0, 4)) if draw.random() < 0.6 else ()
        most = ", ".join(f"'{group}': {draw.randint(0, 4)}" for group in some)
        text = f"mydict = {{{most}}}" if most else ""
        told = VOMAP.format(tmp_path) + options(draw)
        settings = config.parse(told)
        given = caps.read(text) if text else {}
        site = answers.gather(settings, printed=printed.encode(), given=given)
        lines = publish.text(site, publish.targets(settings))
        found = [
            (entry.dn, [(name, int(value)) for name, value in entry.attributes])
            for entry in ldif.read(lines)
        ]
        assert found == [
            *lcginfo_oracle.published(lcginfo_oracle.Site(told, printed, text), ces, shares)
        ]
