"""A configuration of HTCondor that is compressed and cut is told with its file."""

import gzip

from click.testing import CliRunner

from sssjob.cli import sssjob


def test_a_cut_configuration_is_told_with_its_file(tmp_path):
    path = tmp_path / "dump.gz"
    path.write_bytes(gzip.compress(b"A = 1\n" * 50)[:-9])
    result = CliRunner().invoke(sssjob, ["condor", "check", str(path)])
    assert result.stderr == f"{path}: error: the compressed data ends before its end [E-XML]\n"
    assert result.exit_code == 2
