"""Jobs for pages: a group, one that ran, and those whose texts would run, hide or break out."""

from xml.sax.saxutils import escape, quoteattr

GROUP = """<JobGroup><Id>g</Id><JobDefaults><User>amy</User></JobDefaults>
<Job><Id>a</Id><State>Completed</State><ExitCode>0</ExitCode></Job>
<Job><Id>b</Id><User>bob</User><Executable>/bin/true</Executable><Dependency>a</Dependency></Job>
</JobGroup>"""
RAN = """<Job><Id>7</Id><Name>run</Name><User>amy</User><Project>p</Project><State>Completed</State>
<SubmitTime>1700000000</SubmitTime><StartTime>1700000100</StartTime><EndTime>1700003700</EndTime>
<CpuDuration>3600</CpuDuration><Executable>/bin/true</Executable>
<Requested><Processors>4</Processors><Memory units="GB">8</Memory><Duration>86400</Duration>
<NodeCount>2</NodeCount>
</Requested><Delivered><Processors>4</Processors><Duration>3600</Duration>
<Memory units="MB" metric="Max">1024</Memory></Delivered></Job>"""
# Texts of strangers: what would run, what would hide, and what would end a place of a page.
HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "</textarea></pre></title><script>alert(1)</script>",
    "a\u202eb\u2066c\u200bd",
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "]]>&lt;b&gt;&amp;",
    "?user=x&sort=y#z/../..",
)


def hostile(number, text):
    told = escape(text)
    return (
        f"<Job><Id>h{number} {told}</Id><Name>{told}</Name><User>{told}</User>"
        f"<Project>{told}</Project><State>{told}</State><Queue>{told}</Queue><Machine>{told}</Machine>"
        f"<Executable>{told}</Executable><SubmitTime>1700000000</SubmitTime>"
        f"<EndTime>1700000900</EndTime><Extension name={quoteattr(text)}>{told}</Extension></Job>"
    )
