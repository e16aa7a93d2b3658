"""What a control group has used: of both versions, of drivers' words, and joined over time."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from sssjob.errors import UnusableInput
from sssjob.features import samples
from sssjob.features.metrics import FAMILIES, text
from sssjob.features.samples import NAMES, Sample
from sssjob.features.used import Used, of_file

PRESSURE = "some avg10=0.00 avg60=0.00 avg300=0.00 total={}\nfull avg10=0.00 total=7\n"
V2 = {
    "cpu.stat": "usage_usec 2500000\nuser_usec 1\n", "memory.current": "300\n",
    "memory.peak": "400\n", "memory.swap.current": "5\n", "memory.swap.peak": "6\n",
    "cpu.pressure": PRESSURE.format(1_500_000), "memory.pressure": PRESSURE.format(0),
    "io.pressure": PRESSURE.format(1),
}  # fmt: skip
V1 = {
    "memory/slurm/job_7/memory.usage_in_bytes": "300\n",
    "memory/slurm/job_7/memory.max_usage_in_bytes": "400\n",
    "memory/slurm/job_7/memory.memsw.usage_in_bytes": "305\n",
    "memory/slurm/job_7/memory.memsw.max_usage_in_bytes": "406\n",
    "cpu,cpuacct/slurm/job_7/cpuacct.usage": "2500000000\n",
}
FDINFO = "pos:\t0\ndrm-driver:\tamdgpu\ndrm-pdev:\t{}\ndrm-client-id:\t{}\n{}\n"


def written(place, files):
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(content)
    return place


def test_what_a_group_of_version_2_has_used(tmp_path):
    assert samples.look(written(tmp_path, V2), 10) == Sample(
        10, 2.5, None, 300, 400, 5, 6, 1.5, 0, 0.000001
    )


def test_what_a_group_of_version_1_has_used_whose_time_is_counted_elsewhere(tmp_path):
    place = written(tmp_path, V1) / "memory/slurm/job_7"
    assert samples.look(place, 10) == Sample(10, 2.5, None, 300, 400, 5, 6)


def test_a_kernel_that_keeps_no_peak_is_asked_again_and_again(tmp_path):
    old = {name: V2[name] for name in ("cpu.stat", "memory.current")}
    before = samples.look(written(tmp_path, old), 10)
    written(tmp_path, {"memory.current": "200\n", "cpu.stat": "usage_usec 8500000\n"})
    found = samples.after(before, samples.look(tmp_path, 14))
    assert (found.rss_bytes, found.max_rss_bytes, found.cpu_rate) == (200, 300, 1.5)


def test_two_looks_at_one_moment_give_no_rate(tmp_path):
    before = Sample(10, 5.0, 0.5)
    assert samples.after(before, Sample(10.1, 9.0)).cpu_rate == 0.5


def kept(sample):
    """As it comes back from the file of root's."""
    return samples.loads(samples.dumps(sample))


def test_a_control_group_that_was_made_anew_adds_to_what_was_used_before():
    found = Sample(10, 100.0)
    wanted = [(10, 110, 1), (60, 160, 5), (95, 195, 3.5), (20, 215, 2)]
    for number, (counter, total, rate) in enumerate(wanted, 2):
        found = kept(samples.after(found, Sample(10 * number, float(counter))))
        assert (found.cpu_secs, found.cpu_rate) == (total, rate)
        assert found.current() == found


def test_cpu_time_that_cannot_be_read_any_more_was_used_all_the_same():
    """It is kept for the end of the job, and is not of the time of the look."""
    found = Sample(10, 100.0, 2.0, 300)
    for moment in (20, 30):
        found = kept(samples.after(found, Sample(moment, None, None, 200)))
        assert (found.used().cpu_secs, found.current().numbers()) == (
            100, {"time": moment, "rss_bytes": 200}
        )  # fmt: skip
        assert "cpu_time" not in found.values()
    again = kept(samples.after(found, Sample(50, 140.0)))
    assert (again.cpu_secs, again.cpu_rate, again.cpu_time) == (140, 1.0, None)
    anew = kept(samples.after(found, Sample(50, 20.0)))
    assert (anew.cpu_secs, anew.cpu_rate) == (120, 0.5)


def test_what_cannot_be_read_any_more_is_gone_and_told():
    before, now = Sample(10, 5.0, 0.5, 300, 400), Sample(20, None, None, 200)
    joined = samples.after(before, now)
    assert samples.gone(before, joined) == ("cpu_secs", "cpu_rate")
    assert samples.doubts(before, now) == ("cpu_secs could be read before, and cannot now",)
    assert samples.doubts(before, Sample(20, 4.5, None, 1)) == (
        "CPU time fell from 5 to 4.5 s: the control group is a new one",
    )
    assert (samples.doubts(before, Sample(20, 5.0, None, 1)), samples.doubts(None, now)) == ((), ())
    assert samples.gone(None, now) == ()


@pytest.mark.parametrize("kind", ["a pipe", "a device"])
def test_what_is_no_file_of_a_kernel_is_not_waited_for(tmp_path, kind):
    written(tmp_path, {"memory.current": "300\n", "memory.peak": "400\n"})
    if kind == "a pipe":
        os.mkfifo(tmp_path / "cpu.stat")
    else:
        (tmp_path / "cpu.stat").symlink_to("/dev/zero")
    found = samples.look(tmp_path, 10)
    assert (found.cpu_secs, found.rss_bytes) == (None, 300)


def test_what_is_no_group_is_refused(tmp_path):
    with pytest.raises(UnusableInput):
        samples.look(tmp_path, 10)


def test_gpus_are_counted_once_for_each_client_of_a_driver(tmp_path):
    group = written(
        tmp_path / "group",
        {**V2, "cgroup.procs": "11\n12\n", "step/cgroup.procs": "13\nx\n"},
    )
    engines = "drm-engine-gfx:\t2000000000 ns\ndrm-engine-capacity-gfx:\t9\ndrm-memory-vram:\t2 MiB"
    written(
        tmp_path / "proc",
        {
            "11/fdinfo/3": FDINFO.format("0000:03:00.0", 5, engines),
            "12/fdinfo/4": FDINFO.format("0000:03:00.0", 5, engines),  # it has the same open
            "13/fdinfo/3": FDINFO.format("0000:04:00.0", 5, "drm-engine-compute:\t1 ns"),
            "13/fdinfo/9": "pos:\t0\n",
            "14/fdinfo/3": FDINFO.format("0000:03:00.0", 6, engines),  # of another job
        },
    )
    found = samples.look(group, 10, os.fspath(tmp_path), {13: 100, 14: 100})
    assert (found.gpu_secs, found.gpu_bytes) == (2.000000001, (2 << 20) + 100)


AMOUNTS = st.one_of(st.none(), st.integers(0, 2**50))
SECONDS = st.one_of(st.none(), st.integers(0, 10**15).map(lambda number: number / 10**6))


@given(
    st.integers(1, 2**32),
    st.fixed_dictionaries({
        name: AMOUNTS if name.endswith("_bytes") else SECONDS for name in NAMES[1:]
    }),
)  # fmt: skip
def test_what_was_written_is_read_again(tmp_path_factory, moment, values):
    sample = Sample(moment, **values)
    assert samples.loads(samples.dumps(sample)) == sample
    assert samples.parse(sample.values()) == sample


@given(st.text(st.sampled_from("used_cpu_secs time=1.5e9\n-\0x"), max_size=60))
def test_no_text_is_too_strange(strange):
    samples.loads(strange)


def test_the_epilog_reads_what_was_kept_by_the_names_of_all_files_of_usage(tmp_path):
    (tmp_path / "used").write_text(samples.dumps(Sample(1, 2.5, 1.0, 3, 4, 5, 6)))
    assert of_file(tmp_path / "used") == Used(2.5, 4, 6)


def test_figures_are_open_metrics_as_its_own_library_reads_them():
    whole = Sample(1, 2.5, 1.5, 3, 4, 5, 6, 7.0, 8.0, 9.0, 10.0, 11)
    jobs = {"7": whole, "6[7].server": Sample(1, 0.5)}
    found = {
        (family.name, family.type, family.unit, each.labels["job"]): each.value
        for family in text_string_to_metric_families(text(jobs, "slurm", 'n"1'))
        for each in family.samples
        if each.labels["node"] == 'n"1'
    }
    assert found[("sssjob_job_cpu_seconds", "counter", "seconds", "6[7].server")] == 0.5
    assert len(found) == len(FAMILIES) + 1
    assert {key[0]: value for key, value in found.items() if key[3] == "7"} == {
        f"sssjob_job_{family.name}": getattr(whole, family.value) for family in FAMILIES
    }


def test_no_job_is_no_figure():
    assert text({}, "slurm", "n1") == "# EOF\n"
