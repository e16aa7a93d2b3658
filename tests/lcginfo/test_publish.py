"""From a configuration to the LDIF: where static entries are found, and known answers."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.lcginfo import config, glue, ldif, publish
from sssjob.lcginfo.config import BadConfig, Config
from sssjob.lcginfo.ldif import BadLDIF
from sssjob.lcginfo.site import Site
from sssjob.lcginfo.snapshot import QUEUED, RUNNING, QueuedJob, Snapshot

CE = "dn: GlueCEUniqueID={0}\nGlueCEUniqueID: {0}\nGlueCEName: {0}\n\n"
VIEW = (
    "dn: GlueVOViewLocalID={1},GlueCEUniqueID={0}\nGlueVOViewLocalID: {1}\n"
    "GlueChunkKey: GlueCEUniqueID={0}\nGlueCEAccessControlBaseRule: {2}\n\n"
)
SHARE = "dn: GLUE2ShareID={0}\nGLUE2ShareID: {0}\nGLUE2ComputingShareMappingQueue: {0}\n\n"


def published(site, static):
    """The attributes of each entry by its name, without the schema's prefix."""
    wanted = glue.glue1(ldif.read(static.encode()))
    return {
        entry.dn.partition(",")[0].partition("=")[2]: {
            name.removeprefix("GlueCEState"): int(value) for name, value in entry.attributes
        }
        for entry in ldif.read(publish.text(site, wanted))
    }


def test_jobs_of_a_group_that_is_mapped_to_an_fqan_count_for_that_only():
    settings = config.parse("[Main]\nvomap :\n  dteamadmin : /dteam/ROLE=admin\n")
    groups = ["dteam", "dteam", "dteamadmin", "ops"]
    jobs = tuple(QueuedJob("cert", group, RUNNING, start=0.0) for group in groups)
    site = Site.of(Snapshot(jobs, nactive=10, now=10.0), {}, settings)
    found = published(
        site,
        CE.format("cert")
        + VIEW.format("cert", "admin", "VOMS:/VO=dteam/GROUP=/dteam/ROLE=admin")
        + VIEW.format("cert", "dteam", "VO:dteam"),
    )
    assert {name: values["RunningJobs"] for name, values in found.items()} == {
        "cert": 4, "admin": 1, "dteam": 2,
    }  # fmt: skip


def test_an_idle_queue_answers_half_a_cycle_and_a_cycle():
    site = Site(Snapshot(nactive=4, nfree=4, now=0.0, cycle=26.0))
    assert published(site, CE.format("idle"))["idle"] == {
        "WaitingJobs": 0, "RunningJobs": 0, "TotalJobs": 0,
        "EstimatedResponseTime": 13, "WorstResponseTime": 26, "FreeJobSlots": 4,
    }  # fmt: skip


# fmt: off
DIRECTORIES = [
    pytest.param("BDII_LDIF_DIR={0}/a\n",                           "a", id="plain"),
    pytest.param("# BDII_LDIF_DIR=/x\nexport BDII_LDIF_DIR='{0}/a b' # c", "a b", id="quoted"),
    pytest.param('X=1\n  BDII_LDIF_DIR="{0}/a"\nBDII_LDIF_DIR={0}/b\n', "b", id="the last counts"),
]
# fmt: on


@pytest.mark.parametrize("text, name", DIRECTORIES)
def test_the_bdiis_configuration_says_where_its_entries_are(tmp_path, text, name):
    path = tmp_path / "bdii.conf"
    path.write_text(text.format(tmp_path))
    assert publish.ldif_directory(Config(bdii_config_file=str(path))) == tmp_path / name


def test_a_bdii_configuration_with_a_nul_is_refused(tmp_path):
    path = tmp_path / "bdii.conf"
    path.write_text("X=1\nBDII_LDIF_DIR=/a\0b\n")
    with pytest.raises(BadConfig, match=r"bdii\.conf: line 2: a NUL"):
        publish.ldif_directory(Config(bdii_config_file=str(path)))


def test_without_a_word_they_are_in_the_usual_place(tmp_path):
    path = tmp_path / "bdii.conf"
    path.write_text("BDII_LOG_LEVEL=ERROR\nBDII_LDIF_DIR=\n")
    usual = publish.LDIF_DIRECTORY
    assert str(publish.ldif_directory(Config(bdii_config_file=str(path)))) == usual
    assert str(publish.ldif_directory(Config(bdii_config_file="/gone"))) == usual
    with pytest.raises(BadConfig):
        publish.ldif_directory(
            Config(bdii_config_file="/gone", stated=frozenset({"bdii_config_file"}))
        )


@pytest.fixture
def place(tmp_path):
    """A directory of static files, and the configuration that leads there."""
    (tmp_path / "bdii.conf").write_text(f"BDII_LDIF_DIR={tmp_path}\n")
    return tmp_path


def settings(place, text=""):
    return config.parse(f"[Main]\nbdii-configfile: {place}/bdii.conf\n{text}")


def found(config, remarks=None):
    listener = (lambda remark: None) if remarks is None else remarks.append
    return [(target.form, target.queue) for target in publish.targets(config, listener)]


def test_all_files_of_the_directory_are_read_where_none_has_the_usual_name(place):
    (place / "b.ldif").write_text(CE.format("b") + SHARE.format("s"))
    (place / "a.ldif").write_text(CE.format("a"))
    (place / "c.txt").write_text(CE.format("c"))
    assert found(settings(place)) == [("glue1", "a"), ("glue1", "b"), ("glue2", "s")]
    (place / "static-file-CE.ldif").write_text(CE.format("usual"))
    assert found(settings(place)) == [("glue1", "usual"), ("glue2", "s")]
    (place / "ComputingShare.ldif").write_text(SHARE.format("usual"))
    assert found(settings(place)) == [("glue1", "usual"), ("glue2", "usual")]


def test_a_schema_without_files_is_missed_only_if_it_was_asked_for(place):
    (place / "one").write_text(CE.format("q"))
    named = f"static_ldif_file: {place}/one\n"
    assert found(settings(place, named)) == [("glue1", "q")]
    for text in (f"{named}outputformat: both\n", "outputformat: glue2\n", ""):
        with pytest.raises(BadLDIF, match="no static file for glue"):
            found(settings(place, text))


def test_files_without_an_entry_that_changes_are_remarked_upon(place):
    (place / "one").write_text("dn: o=grid\n")
    remarks = []
    assert found(settings(place, f"static_ldif_file: {place}/one\n"), remarks) == []
    assert "nothing to publish" in remarks[-1].message


def test_what_is_wrong_with_a_file_is_said_with_its_name(place):
    (place / "one").write_text("dn: GlueCEUniqueID=q\n\n")
    with pytest.raises(BadLDIF, match=r"/one: Missing mandatory attribute GlueCEUniqueID: line 1"):
        found(settings(place, f"static_ldif_file: {place}/one\n"))
    (place / "one").write_text("garbage\n")
    remarks = []
    found(settings(place, f"static_ldif_file: {place}/one\n"), remarks)
    assert remarks[0].message == f"{place}/one:1: 'garbage' is not 'attribute: value'"


NAMES = st.sampled_from("abc")
NUMBERS = st.none() | st.integers(0, 10**18)
TIMES = st.none() | st.floats(0, 1e12)
JOBS = st.lists(
    st.builds(
        QueuedJob, NAMES, NAMES, st.sampled_from([QUEUED, RUNNING]), jobid=st.just("1"),
        qtime=TIMES, start=TIMES, maxwalltime=TIMES, cpucount=st.integers(1, 10),
    ),
    max_size=12,
)  # fmt: skip


@given(JOBS, NUMBERS, NUMBERS, TIMES, TIMES, st.dictionaries(NAMES, st.integers(0, 5)))
def test_every_number_is_a_whole_one_of_32_bits(jobs, nactive, nfree, now, cycle, caps):
    site = Site(Snapshot(tuple(jobs), nactive, nfree, now, cycle), caps)
    static = "".join(CE.format(q) + VIEW.format(q, v, f"VO:{v}") for q in "abc" for v in "abc")
    wanted = glue.glue1(ldif.read(static.encode()))
    for entry in ldif.read(publish.text(site, wanted)):
        for name, value in entry.attributes:
            assert re.fullmatch("[0-9]{1,10}", value), (name, value)
            assert int(value) < 2**31


WORDS = st.sampled_from(
    [
        "dn", "dn: ", "GlueCEUniqueID=q", "GlueCEUniqueID: q", "GlueCEName: q", "\n", "\n\n", "\n ",
        "GlueVOViewLocalID=v", "GlueChunkKey: GlueCEUniqueID=q", ",", "VO:", ":", "=",
        "GlueCEAccessControlBaseRule: VO:x", "GLUE2ShareID=s", "GLUE2ShareID: s",
        "GLUE2PolicyID=p,GLUE2ShareID=s", "GLUE2ComputingShareMappingQueue: q",
        "GLUE2PolicyUserDomainForeignKey: x", "GLUE2MappingPolicyShareForeignKey: s", "#", "::",
    ]
)  # fmt: skip


@given(st.lists(WORDS, max_size=40).map("".join))
def test_pieces_of_static_files_give_entries_or_a_reason(text):
    for reader in glue.READERS.values():
        try:
            wanted = reader(ldif.read(text.encode()))
        except BadLDIF:
            continue
        printed = publish.text(Site(Snapshot(now=0.0)), wanted)
        assert len(list(ldif.read(printed))) == len(wanted)
