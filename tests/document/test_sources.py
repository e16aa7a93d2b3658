from pathlib import Path

from sssjob.document.sources import documents


def test_a_directory_gives_its_documents_sorted_and_says_what_it_skips(tmp_path):
    for name in ("b.xml", "a.sss.gz", "sub/c.xml.zst", "sub/readme.txt", "z.sss.xz", "y.xml.bz2"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    skipped = []
    found = documents(tmp_path, on_skipped=skipped.append)
    names = [path.relative_to(tmp_path).as_posix() for path in found]
    assert names == ["a.sss.gz", "b.xml", "y.xml.bz2", "z.sss.xz", "sub/c.xml.zst"]
    assert skipped == [tmp_path / "sub/readme.txt"]


def test_a_circle_of_links_ends(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "a.xml").touch()
    (tmp_path / "gone.xml").symlink_to(tmp_path / "nowhere")
    assert list(documents(tmp_path)) == [tmp_path / "a.xml"]


def test_a_file_is_taken_whatever_its_name():
    assert list(documents(Path("jobs.txt"))) == [Path("jobs.txt")]
