"""Jobs, windows and zones for tests of reports."""

from datetime import UTC
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from sssjob.model import Delivered, Job, Property, Requested

# Around the hours that summer time begins and ends in London, which shifts half an hour elsewhere.
AUTUMN, SPRING = 1_793_491_200, 1_774_742_400
ZONES = [UTC, ZoneInfo("Europe/London"), ZoneInfo("Australia/Lord_Howe")]
times = st.sampled_from([AUTUMN, SPRING]).flatmap(
    lambda moment: st.integers(moment - 90_000, moment + 90_000)
)
numbers = st.sampled_from(["0", "1", "4", "7", "1000000007"])
amounts = st.sampled_from(["0", "1", "0.5", "1000", "438.25", "9223372036854775808", "1e30"])


def some(element, values, **attributes):
    return st.none() | values.map(lambda text: Property(element, str(text), attributes))


@st.composite
def jobs(draw):
    """A job object that ran for some hours, or did not, or of which less is known."""
    start = draw(st.none() | times)
    end = draw(st.none() | times)
    if start is not None and draw(st.booleans()):
        end = start + draw(st.integers(0, 9000))
    kept = [
        Property("Id", str(draw(st.integers(0, 10**6)))),
        Property("SubmitTime", str(draw(st.integers(0, 10**9)))),
        *(Property(name, str(each)) for name, each in (("StartTime", start), ("EndTime", end))
          if each is not None),
        draw(some("State", st.sampled_from(["Completed", "Running"]))),
        draw(some("CpuDuration", numbers)),
        draw(some("ExitCode", st.sampled_from(["0", "-1", "137", "1.5", "99999999999999999999"]))),
    ]  # fmt: skip
    asked = [
        draw(some("Memory", amounts, units="MB")),
        draw(some("Duration", numbers)),
        draw(some("Processors", numbers)),
        draw(some("Resource", numbers, name="GPU")),
        draw(some("Resource", amounts, name="gpu:a100", op="LE")),
        draw(some("Project", st.just("chem"))),
    ]
    given_ = [
        draw(some("User", st.sampled_from(["amy", "bob", "☃"]))),
        draw(some("Duration", st.sampled_from(["0", "7", "3600", "86399", "1.5"]))),
        draw(some("Processors", numbers)),
        draw(some("NodeCount", numbers)),
        draw(some("Memory", amounts, units="KB", metric="Max")),
        draw(some("Resource", numbers, name="GPU")),
        draw(some("Resource", amounts, name="Energy", units="kWh")),
    ]
    blocks = (Requested(filter(None, asked)), Delivered(filter(None, given_)))
    return Job((*filter(None, kept), *blocks))


several = st.lists(jobs(), min_size=1, max_size=20, unique_by=lambda job: job.id)


def in_order(window):
    """The same span of time, from its begin to its end."""
    return window if None in window else tuple(sorted(window))


windows = st.tuples(st.none() | times, st.none() | times).map(in_order)


BY = [
    ("user",), ("day",), ("hour", "user"), ("project", "month"), ("week", "year"), ("state", "qos"),
    ("nodes", "exit"), ("account", "cluster"),
]  # fmt: skip
