import pytest

from sssjob.lcginfo import config
from sssjob.lcginfo.config import BadConfig

# As the text prints it, with what the copies of the text lost put back.
TEXT = """\
[Main]
static_ldif_file : /opt/lcg/var/gip/ldif/static-file-CE.ldif   # required
vomap :                    # required
   atlsgm : atlas
   biome  : biomed
   LSF_lhcb : lhcb
   aliceprd : /VO=alice/GROUP=/alice/ROLE=production
[LRMS]
lrms_backend_cmd : /path/to/cmd/lrmsinfo-pbs -c '/other path/config'  # required
[Scheduler]
vo_max_jobs_cmd : vomaxjobs-maui -h ce # optional
cycle_time  : 120   # optional
"""
LATER = """\
[Main]
outputformat = GLUE1
estimator = dynsched.estimators.BasicEstimator:BasicEstimator
sample_dir = /var/tmp/%(x)s
sample_number: 50
bdii-configfile = /etc/bdii/bdii.conf
cream_prefix = cream_
[LRMS]
lrms_backend_cmd = cat file
lrms_backend_cmd = cat other
[loggers]
keys = root
[handler_stderr]
args = (sys.stderr,)
"""


def parse(text):
    remarks = []
    return config.parse(text, remarks.append), [remark.message for remark in remarks]


def test_the_configuration_of_the_text_reads_as_it_stands():
    found, remarks = parse(TEXT)
    assert not remarks
    assert found.static_ldif_file == "/opt/lcg/var/gip/ldif/static-file-CE.ldif"
    assert found.lrms_backend_cmd == ("/path/to/cmd/lrmsinfo-pbs", "-c", "/other path/config")
    assert found.vo_max_jobs_cmd == ("vomaxjobs-maui", "-h", "ce")
    assert found.cycle_time == 120
    assert found.vomap("LSF_lhcb") == "lhcb"
    assert found.vomap("aliceprd") == "/alice/Role=production"


def test_options_without_sections_belong_where_their_names_say():
    text = "".join(line + "\n" for line in TEXT.splitlines() if not line.startswith("["))
    assert parse(text) == parse(TEXT)


def test_the_configuration_of_later_programs_is_understood():
    found, remarks = parse(LATER)
    assert remarks == [
        "[Main] cream_prefix is ignored: a prefix of the versions of 2012",
        "[loggers] is not followed: the log goes to standard error",
    ]
    assert found.output_format == "glue1"
    assert found.estimator == "basic"
    assert found.sample_dir == "/var/tmp/%(x)s"
    assert found.lrms_backend_cmd == ("cat", "other")


def test_further_attributes_are_named_in_any_case_between_blanks_or_commas():
    found, remarks = parse(
        "[Main]\nattributes = gluecestatefreecpus, GLUE2ComputingShareUsedSlots\n"
    )
    assert found.attributes == ("GlueCEStateFreeCPUs", "GLUE2ComputingShareUsedSlots")
    assert not remarks
    with pytest.raises(config.BadConfig, match="'GlueCEName' is not one of GlueCEStateFreeCPUs, "):
        parse("[Main]\nattributes = GlueCEName\n")


def test_an_empty_file_and_an_empty_vomap_are_fine():
    assert parse("")[0] == config.Config()
    assert parse("[Main]\nvomap :\n")[0].vomap("any") == "any"


@pytest.mark.parametrize("text, message", [
    pytest.param("[Main]\nestimater = basic\n", "was estimator meant?", id="misspelled"),
    pytest.param("[Main]\ncycle_time = 3\n", "it belongs to [Scheduler]", id="misplaced"),
    pytest.param("[Mine]\nx = 3\n", "[Mine] x is not known", id="unknown"),
    pytest.param("[Main]\nvomap =\n  a b\n", "is not 'group : VO'", id="no-map"),
])  # fmt: skip
def test_what_a_file_says_in_vain_is_reported(text, message):
    assert message in parse(text)[1][0]


@pytest.mark.parametrize("text, message", [
    pytest.param("[Main]\noutputformat = xml\n", "'xml' is not one of glue1", id="format"),
    pytest.param("[Scheduler]\ncycle_time = soon\n", "cycle_time", id="no-number"),
    pytest.param("[Scheduler]\ncycle_time = 1_0\n", "cycle_time", id="no-number-of-documents"),
    pytest.param("[Scheduler]\ncycle_time = 1e99\n", "cycle_time", id="endless"),
    pytest.param(f"[Scheduler]\ncycle_time = {'9' * 400}\n", "cycle_time", id="endless-digits"),
    pytest.param("[Scheduler]\ncycle_time = nan\n", "cycle_time", id="not-a-number"),
    pytest.param("[Scheduler]\ncycle_time = -1\n", "cycle_time", id="negative"),
    pytest.param("[Main]\nsample_number = 0\n", "sample_number", id="no-samples"),
    pytest.param("[Main]\nusage_factor = 2\n", "usage_factor", id="more-than-all"),
    pytest.param("[LRMS]\nlrms_backend_cmd = cat 'x\n", "a quote that is not closed", id="quote"),
    pytest.param("[Main]\n= x\n", "line", id="no-name"),
    pytest.param("[Main]\nstatic_ldif_file = a\0b\n", "line 2: a NUL", id="nul-in-a-name"),
    pytest.param("[LRMS]\n\nlrms_backend_cmd = x \0\n", "line 3: a NUL", id="nul-in-a-command"),
])  # fmt: skip
def test_a_file_that_cannot_be_worked_with_is_refused(text, message):
    with pytest.raises(BadConfig, match=message.replace("[", r"\[")):
        config.parse(text)


def test_a_file_is_read_up_to_its_limit(tmp_path):
    path = tmp_path / "conf"
    with pytest.raises(BadConfig, match="No such file"):
        config.load(path)
    path.write_bytes(b"\xef\xbb\xbf[Main]\nestimator = waittime \xff\n")
    assert config.load(path).estimator == "waittime \ufffd"
    path.write_bytes(b"#" * (config.SIZE_LIMIT + 1))
    with pytest.raises(BadConfig, match="more than"):
        config.load(path)
    path.write_bytes(b"[Main]\nvomap = a\0\n")
    with pytest.raises(BadConfig, match="conf: line 2: a NUL"):
        config.load(path)


def test_every_option_sets_a_field_that_there_is():
    fields = set(config.Config.__dataclass_fields__)
    assert {option.field for option in config.OPTIONS if option.field} <= fields


def test_a_line_that_continues_an_option_without_a_value_is_said():
    with pytest.raises(config.BadConfig, match=r"^line 3: it continues"):
        config.parse("[Main]\nvomap\n  a : b\n")
    with pytest.raises(config.BadConfig, match=r"^line 2: it continues"):
        config.parse("vomap\n  a : b\n")


@pytest.mark.parametrize("text", [
    "[Main]\nvomap\n  a : b\n", "[Main]\n= x\n", "[Main]\nsample_number = 0\n",
    "[Main]\nvomap = a\0",
])  # fmt: skip
def test_whatever_is_wrong_with_a_file_names_it(text, tmp_path):
    path = tmp_path / "c.conf"
    path.write_text(text)
    with pytest.raises(BadConfig) as told:
        config.load(path)
    assert str(told.value).startswith(f"{path}: ")
    assert "<???>" not in str(told.value)


@pytest.mark.parametrize("text, value", [("26", 26), ("0.5", 0.5), ("1e2", 100), ("0:01:30", 90)])
def test_seconds_are_read_as_in_documents_and_may_have_a_fraction(text, value):
    assert config.seconds(text) == value
