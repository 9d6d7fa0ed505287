"""A disk that cannot be written to is named, with what to do next; other errors of the system stay as they are."""

import errno
import os

import pytest

from genverify.model.errors import DiskError, naming_disk_errors


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "the disk is full: free space"),
        (errno.EDQUOT, "the quota of this disk is used up: free space"),
        (errno.EROFS, "the file system is read-only: make it writable"),
        (errno.EACCES, "you have no permission to write here: change it"),
    ],
)
def test_the_error_says_what_to_do(number: int, words: str) -> None:
    with pytest.raises(DiskError) as error, naming_disk_errors():
        raise OSError(number, os.strerror(number), "claims.parquet")
    assert words in str(error.value)
    assert "claims.parquet" in str(error.value)
    assert "give the same command again" in str(error.value)


def test_other_errors_are_left_alone() -> None:
    with pytest.raises(FileNotFoundError), naming_disk_errors():
        raise FileNotFoundError(errno.ENOENT, "No such file")
